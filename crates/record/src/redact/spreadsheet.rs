use std::borrow::Cow;

/// Prefixes a text that a spreadsheet would run as a formula with an apostrophe
/// (<https://owasp.org/www-community/attacks/CSV_Injection>). Formulas can send other cells of the sheet to an attacker.
pub fn spreadsheet_safe(text: &str) -> Cow<'_, str> {
    const BEGIN_FORMULAS: [char; 11] =
        ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if text.starts_with(BEGIN_FORMULAS) {
        return Cow::Owned(format!("'{text}"));
    }
    Cow::Borrowed(text)
}
