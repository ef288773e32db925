//! A check as JUnit XML: one test case a limit. Knows the elements that CI systems read, no more.

use std::io;

use neuronx_mem_tune::{Checked, Measured};
use quick_xml::Writer;
use quick_xml::events::BytesText;

/// The whole report.
pub(super) fn report(measured: &Measured, checked: &[Checked]) -> io::Result<Vec<u8>> {
    let n_failed = checked.iter().filter(|one| !one.is_kept()).count();
    let is_out_of_memory = measured.out_of_memory.is_some();
    let (n_tests, n_failures) = (checked.len() + 1, n_failed + usize::from(is_out_of_memory));
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let suite = writer
        .create_element("testsuite")
        .with_attribute(("name", "memory budget"))
        .with_attribute(("tests", n_tests.to_string().as_str()))
        .with_attribute(("failures", n_failures.to_string().as_str()));
    suite.write_inner_content(|writer| {
        let message = measured.out_of_memory.map(|event| format!("out of memory at event {event}"));
        case(writer, &measured.input, "fits in memory", message)?;
        for one in checked {
            let name = format!("{}: {}", one.limit.scope, one.limit.figure.name());
            let message = match one.found {
                _ if one.is_kept() => None,
                Some(found) => {
                    Some(format!("measured {found}, allowed {}, limit {}", one.allowed, one.limit.limit))
                }
                None => Some("the run has no such mark or step".to_owned()),
            };
            case(writer, &measured.input, &name, message)?;
        }
        Ok(())
    })?;
    let mut report = writer.into_inner();
    report.push(b'\n');
    Ok(report)
}

fn case(writer: &mut Writer<Vec<u8>>, input: &str, name: &str, failure: Option<String>) -> io::Result<()> {
    let case =
        writer.create_element("testcase").with_attribute(("classname", input)).with_attribute(("name", name));
    match failure {
        None => case.write_empty()?,
        Some(message) => case.write_inner_content(|writer| {
            let failure = writer.create_element("failure").with_attribute(("message", message.as_str()));
            failure.write_text_content(BytesText::new(&message))?;
            Ok(())
        })?,
    };
    Ok(())
}
