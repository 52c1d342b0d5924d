//! Sources of other languages: the connection texts in them, and nothing of the code around.

use formats::settings::Node;
use formats::settings::code::{self, Language};

use super::{Form, ends};
use crate::config::{Read, SettingsError, urls};

pub(super) const SOURCE: Form = Form {
    id: "source",
    name: "a source file, of which only texts are read",
    fits: |name| {
        ends(
            name,
            &[
                ".go", ".rs", ".java", ".kt", ".kts", ".scala", ".groovy", ".gradle", ".cs", ".swift", ".c",
                ".cc", ".cpp", ".h",
            ],
        )
    },
    read,
};

fn read(bytes: &[u8]) -> Result<Read, SettingsError> {
    let source = code::read(bytes, Language::CLike)?;
    let text = |node: &Node| {
        // DSNs of Go are put together of parts so often that the scheme of a URL in another language is not looked for in them.
        node.text().and_then(|words| urls::found(words, node.line, "a text"))
    };
    Ok(Read { found: source.texts.iter().filter_map(text).collect(), ..Read::default() })
}
