"""Where the outputs of a session are kept that were too long for the model, whole."""

from collections.abc import Mapping

from assent.config import data_folder
from assent.files.private import PrivateFolder


def output_folder(env: Mapping[str, str], session: str) -> PrivateFolder:
    return PrivateFolder(str(data_folder(env) / "outputs" / session))
