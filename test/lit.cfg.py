"""How lit finds and runs Partita's tests, and what they may ask for."""

import os
import shutil
import subprocess

import lit.formats
import lit.util

config.name = "Partita"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "conformance"]
config.test_source_root = os.path.dirname(__file__)

# Seconds; a test that runs longer than this hangs.
lit_config.maxIndividualTestTime = 300

# ---- The tools, found in this build first, then in LLVM's folder ----------

for folder in [config.llvm_tools_dir,
               os.path.join(config.test_exec_root, "bin"),
               config.partita_tools_dir]:
    config.environment["PATH"] = os.pathsep.join(
        [folder, config.environment["PATH"]]
    )
for name in ["HOME", "CCACHE_DIR", "ASAN_OPTIONS", "UBSAN_OPTIONS",
             "TSAN_OPTIONS"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]
for name, value in os.environ.items():
    if name.startswith("OMPI_"):
        config.environment[name] = value
# Small programs on shared cores: one thread per rank, unless a test says so.
config.environment["OMP_NUM_THREADS"] = "1"
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"

config.substitutions.append(
    ("%models", os.path.join(config.test_source_root, "Inputs", "models"))
)
config.substitutions.append(
    ("%inputs", os.path.join(config.test_source_root, "Inputs"))
)
config.substitutions.append(("%python", config.partita_python))
config.substitutions.append(("%source", config.partita_source_root))
config.substitutions.append(("%build", config.partita_binary_root))
config.substitutions.append(
    ("%runtime-link",
     os.path.join(config.partita_binary_root, "lib", "PartitaRuntimeCpu.link"))
)
config.substitutions.append(("%mpirun", "mpirun --oversubscribe"))


# ---- What the machine offers: a test asks with REQUIRES, or is skipped ----


def python_has(python, modules):
    """Whether `python` can import all `modules` (asked without importing)."""
    if not python or not os.path.exists(python):
        return False
    code = (
        "import importlib.util as u, sys;"
        "sys.exit(any(u.find_spec(m) is None for m in sys.argv[1:]))"
    )
    return subprocess.run([python, "-c", code, *modules],
                          stderr=subprocess.DEVNULL).returncode == 0


def first_that(condition, candidates):
    return next((c for c in candidates if condition(c)), None)


haveMpi = shutil.which("mpirun") and shutil.which("mpicxx")
if haveMpi:
    config.available_features.add("mpi")
# For tests whose ranks are processes, too, where there is MPI.
config.substitutions.append(
    ("%if-mpi-mpirun", "mpirun --oversubscribe" if haveMpi else "")
)

nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
if nvcc:
    config.available_features.add("cuda")
    config.substitutions.append(("%nvcc", nvcc))
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("gpu")

if python_has(config.partita_python, ["torch", "numpy"]):
    config.available_features.add("python-torch")
if python_has(config.partita_python, ["onnx", "numpy"]):
    config.available_features.add("python-onnx")

# The folder with PyPI's onnxruntime, which tools/python-env makes.
onnx_python = os.path.join(
    config.partita_source_root, "build", "python", "bin", "python3"
)
onnx_python = first_that(
    lambda p: python_has(p, ["onnx", "onnxruntime", "numpy"]),
    [os.environ.get("PARTITA_ONNX_PYTHON"), onnx_python,
     config.partita_python],
)
if onnx_python:
    config.available_features.add("onnxruntime")
    config.substitutions.append(("%onnx-python", onnx_python))

# Hosts with links of a given rate, made by root (tools/benchmarks/network.py).
network = os.path.join(config.partita_source_root, "tools", "benchmarks")
if subprocess.run(
        [config.partita_python or "python3", "-B", "-c",
         "import network; network.check_rights()"], cwd=network,
        stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("network-namespaces")

fashion = "/usr/share/datasets/fashion-mnist"
if os.path.isdir(fashion):
    config.available_features.add("fashion-mnist")
    config.substitutions.append(("%fashion-mnist", fashion))

testdata = first_that(
    os.path.isdir,
    ["/usr/share/libonnx-testdata/data", "/usr/share/onnx/backend/test/data"],
)
if testdata:
    config.available_features.add("onnx-testdata")
    config.substitutions.append(("%onnx-testdata", testdata))

# Which build this is: some tests make no sense, or take too long, in some.
config.available_features.add(
    {"address": "asan", "thread": "tsan"}.get(
        config.partita_sanitize, "not-sanitized"
    )
)
