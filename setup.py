"""What is compiled when Enlace is installed; all else is in pyproject.toml, which has no settled way to say this."""

from setuptools import Extension, setup

# For the processor that it is installed on: the engine is compiled for that one too. The last two let the compiler
# compute several numbers at once where one of them might be none, and change no result.
FLAGS = ["-std=c++20", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math"]

setup(
    ext_modules=[
        # No Python module, and so in no package, but found as one would be. Without it, PyTorch's own operations do
        # the same, slower.
        Extension(
            "trainer.model.native.library",
            [f"trainer/model/native/{name}.cpp" for name in ("layers", "attention", "head")],
            depends=["trainer/model/native/numbers.hpp"],
            language="c++",
            extra_compile_args=[*FLAGS, "-fopenmp"],
            extra_link_args=["-fopenmp"],
            optional=True,
        )
    ]
)
