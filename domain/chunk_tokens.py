"""How many tokens a file has, before anybody reads it: by its extension (facts/performance.md §2, o200k, measured)."""

from typing import NamedTuple

USUAL = 360
"""Bytes in a hundred tokens, where the extension says nothing."""

BYTES_IN_100_TOKENS = {
    **dict.fromkeys(("py", "pyi", "pyx"), 440),
    **dict.fromkeys(("rst", "txt", "adoc"), 420),
    **dict.fromkeys(("ts", "tsx", "js", "jsx", "mjs", "cjs", "vue", "svelte", "java", "kt", "cs", "swift"), 405),
    **dict.fromkeys(("md", "markdown", "mdx", "rb", "php", "rs", "scala", "dart"), 390),
    **dict.fromkeys(("go", "html", "htm", "jinja", "j2"), 370),
    **dict.fromkeys(("yaml", "yml", "po", "pot", "toml", "xml"), 345),
    **dict.fromkeys(("css", "scss", "less", "json"), 335),
    **dict.fromkeys(("c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm", "s"), 310),
    **dict.fromkeys(("sh", "bash", "zsh", "sql", "csv", "tsv"), 300),
    **dict.fromkeys(("dts", "dtsi", "svg"), 256),
    **dict.fromkeys(("lock", "sum"), 218),
}  # fmt: skip

BINARY = frozenset(
    [
        "png",
        "jpg",
        "jpeg",
        "gif",
        "ico",
        "cur",
        "bmp",
        "tif",
        "tiff",
        "webp",
        "avif",
        "heic",
        "psd",
        "icns",
        "pdf",
        "dvi",
        "zip",
        "gz",
        "tgz",
        "bz2",
        "xz",
        "zst",
        "lz4",
        "7z",
        "rar",
        "tar",
        "jar",
        "war",
        "ear",
        "whl",
        "egg",
        "deb",
        "rpm",
        "apk",
        "nupkg",
        "gem",
        "crate",
        "so",
        "dll",
        "dylib",
        "a",
        "o",
        "lib",
        "exe",
        "bin",
        "elf",
        "class",
        "pyc",
        "pyo",
        "pyd",
        "wasm",
        "rlib",
        "node",
        "dex",
        "woff",
        "woff2",
        "ttf",
        "otf",
        "eot",
        "mp3",
        "mp4",
        "m4a",
        "wav",
        "ogg",
        "oga",
        "ogv",
        "flac",
        "avi",
        "mov",
        "mkv",
        "webm",
        "doc",
        "docx",
        "xls",
        "xlsx",
        "ppt",
        "pptx",
        "odt",
        "ods",
        "odp",
        "sqlite",
        "sqlite3",
        "mdb",
        "parquet",
        "feather",
        "npy",
        "npz",
        "h5",
        "hdf5",
        "onnx",
        "gmo",
        "iso",
        "dmg",
        "swf",
        "blend",
        "glb",
        "p12",
        "pfx",
        "jks",
        "keystore",
        "der",
    ]
)
"""Extensions whose files are not text. Others may not be either; that is seen when they are read, and kept by their content."""


class Kind(NamedTuple):
    """What an extension says of a file."""

    ratio: int
    binary: bool


def kind_of(extension: str) -> Kind:
    known = extension.lower()
    return Kind(BYTES_IN_100_TOKENS.get(known, USUAL), known in BINARY)


def estimated(size: int, ratio: int) -> int:
    return -(-size * 100 // ratio)
