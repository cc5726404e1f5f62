use super::*;
use crate::page::shown::shown;
use crate::sample::disk::picture;

#[test]
fn as_a_page() {
    let page = page(&picture());
    assert!(page.contains("a &lt;disk&gt; &amp; more"));
    let rest = shell::checked(&page, Place::File);
    assert!(!rest.contains("http://"));
    assert_eq!(page.matches("<svg class=\"chart").count(), 2);
    assert!(rest.len() < 100_000);
    let body = &rest[rest.find("<main>").expect("it has a main part")..];
    insta::assert_snapshot!(shown(body));
}
