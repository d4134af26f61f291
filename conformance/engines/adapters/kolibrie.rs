//! Kolibrie behind the harness protocol: compile it with Kolibrie's crates `kolibrie` and `shared`, and serde_json.
//!
//! The engine runs in one thread. Its RSP-QL is written here from the suite's table: window n has the name `:wn`. Of a query the
//! engine takes the triple patterns of the windows, and it gives all their variables: SELECT is done here, and only for
//! variables. Its answers do not say of which kind a term is; one with a colon after a letter counts as an IRI. An element is
//! given triple by triple; what the engine finds meanwhile is one report. `end` gives each stream a triple with a predicate of its
//! own, past every window and, if the slides allow it, on no border: only elements tell the engine the time.

use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex};

use kolibrie::rsp_engine::{OperationMode, RSPBuilder, RSPEngine, ResultConsumer, SimpleR2R};
use serde_json::{json, Value};
use shared::triple::Triple;

const SENTINEL: &str = "<urn:conformance:end> <urn:conformance:end> <urn:conformance:end> .";
const BODY: &str = "its queries select variables of the triple patterns of windows, which do not see static data";

extern "C" {
    fn dup2(old: i32, new: i32) -> i32;
}

/// A query of the suite, registered.
struct Case {
    engine: RSPEngine<Triple, Vec<(String, String)>>,
    rows: Arc<Mutex<Vec<Value>>>,
    latest: usize,
}

fn main() {
    let mut output = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned().expect("standard output"));
    unsafe { dup2(2, 1) }; // what the engine prints goes to standard error
    let mut case = None;
    for line in io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let mut reply = match catch_unwind(AssertUnwindSafe(|| answer(&mut case, &command))) {
            Ok(Ok(reply)) => reply,
            Ok(Err(reason)) => json!({"reply": "unsupported", "reason": reason}),
            Err(_) => json!({"reply": "error", "context": "the engine panicked; see its standard error"}),
        };
        reply["seq"] = command["seq"].clone();
        writeln!(output, "{reply}").expect("standard output");
        if command["command"] == "stop" {
            return;
        }
    }
}

fn answer(case: &mut Option<Case>, command: &Value) -> Result<Value, String> {
    match (text(&command["command"]), case) {
        ("start", _) => return Ok(json!({"reply": "result", "protocol": 1, "engine": "kolibrie", "version": "0.1.1"})),
        ("register", case) => *case = Some(register(command)?),
        ("push", Some(case)) => return push(case, command),
        ("end", Some(case)) => {
            let (streams, windows) = (case.engine.stream_iris(), case.engine.get_window_info());
            let past = case.latest + 2 * windows.iter().map(|window| window.width + window.slide).max().unwrap_or(0);
            let at = (past..).find(|at| windows.iter().all(|each| each.slide == 1 || at % each.slide > 0)).unwrap_or(past);
            return Ok(relations(streams.iter().map(|stream| give(case, stream, SENTINEL, at)).collect()));
        }
        _ => (), // advance: the engine knows no time but that of an element
    }
    Ok(relations(vec![]))
}

fn register(command: &Value) -> Result<Case, String> {
    let table: Value = serde_json::from_str(text(&command["query"])).expect("a table");
    let windows = table["windows"].as_array().expect("windows");
    let facts = command["static"].as_str().unwrap_or("");
    let (prologue, rest) = text(&table["body"]).split_once("SELECT").ok_or(BODY)?;
    let (select, rest) = rest.split_once('{').ok_or(BODY)?;
    let (pattern, modifiers) = rest.rsplit_once('}').ok_or(BODY)?;
    let select = select.trim_end().trim_end_matches("WHERE");
    let computes = ["(", "$", "DISTINCT", "REDUCED"].iter().any(|word| select.contains(word));
    if computes || !facts.is_empty() && windows.iter().any(|window| window.get("name").is_none()) {
        return Err(BODY.into());
    }
    let names: Vec<String> = select.split_whitespace().map(|word| word.trim_start_matches('?').into()).collect();
    let (mut clauses, mut pattern) = (String::new(), pattern.to_string());
    for (number, window) in windows.iter().enumerate() {
        let (stream, size, slide) = (text(&window["stream"]), &window["size"], &window["slide"]);
        clauses += &format!("FROM NAMED WINDOW :w{number} ON <{stream}> [RANGE {size} STEP {slide}]\n");
        let named = format!("WINDOW :w{number} ");
        pattern = match window["name"].as_str().map(|name| spellings(name, prologue)) {
            None => format!("{named}{{ {pattern} }}"),
            Some(names) => names.iter().fold(pattern, |text, name| text.replace(&format!("GRAPH {name} "), &named)),
        };
    }
    let operator = table["r2s"].as_str().unwrap_or("Rstream").to_uppercase();
    let register = format!("{prologue} REGISTER {operator} <urn:conformance:output> AS SELECT {select}");
    let query = format!("{register}\n{clauses}WHERE {{ {pattern} }}{modifiers}");
    let rows = Arc::new(Mutex::new(vec![]));
    let found = rows.clone();
    let consumer = move |row: Vec<(String, String)>| {
        let selected = row.into_iter().filter(|(name, _)| names.contains(name) || names[0] == "*");
        found.lock().expect("rows").push(selected.map(|(name, value)| (name, term(&value))).collect());
    };
    let builder = RSPBuilder::new().add_rsp_ql_query(&query).set_operation_mode(OperationMode::SingleThread);
    let builder = builder.add_consumer(ResultConsumer { function: Arc::new(consumer) }).add_r2r(Box::new(SimpleR2R::new()));
    let mut engine = builder.build().map_err(|_| "its parser refuses the query")?;
    engine.add_static_ntriples(facts);
    Ok(Case { engine, rows, latest: 0 })
}

/// Return the ways in which a body with this prologue can write an IRI.
fn spellings(iri: &str, prologue: &str) -> Vec<String> {
    let namespaces = prologue.split("PREFIX").filter_map(|text| text.trim().trim_end_matches('>').split_once('<'));
    let prefixed = namespaces.filter_map(|(prefix, namespace)| Some(prefix.trim().to_string() + iri.strip_prefix(namespace)?));
    prefixed.chain([format!("<{iri}>")]).collect()
}

fn push(case: &mut Case, command: &Value) -> Result<Value, String> {
    let stream = text(&command["stream"]);
    if !case.engine.stream_iris().iter().any(|iri| iri == stream) {
        return Ok(relations(vec![])); // the query does not name it
    }
    let at = command["at"].as_u64().ok_or("its instants are not negative")? as usize;
    if command.get("end").is_some_and(|end| *end != command["at"]) {
        return Err("its elements have an instant, and no interval".into());
    }
    let graph = Some(text(&command["graph"])).filter(|graph| !graph.is_empty()).ok_or("an element without triples is none")?;
    case.latest = case.latest.max(at);
    Ok(relations(graph.lines().map(|line| give(case, stream, line, at)).collect()))
}

/// Give the engine a line of N-Triples, and return the rows that it finds.
fn give(case: &mut Case, stream: &str, line: &str, at: usize) -> Vec<Value> {
    for triple in case.engine.parse_data(line) {
        case.engine.add_to_stream(stream, triple, at);
    }
    case.engine.process_single_thread_window_results(); // which joins several windows
    std::mem::take(&mut *case.rows.lock().expect("rows"))
}

fn term(written: &str) -> Value {
    if let Some(label) = written.strip_prefix("_:") {
        return json!({"type": "bnode", "value": label});
    }
    json!({"type": if written.starts_with(char::is_alphabetic) && written.contains(':') { "uri" } else { "literal" }, "value": written})
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn relations(reports: Vec<Vec<Value>>) -> Value {
    let reports = reports.into_iter().filter(|rows| !rows.is_empty());
    json!({"reply": "result", "relations": reports.map(|rows| json!({"rows": rows})).collect::<Vec<_>>()})
}
