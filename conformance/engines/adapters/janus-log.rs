//! Janus's sliding windows over a log behind the harness protocol: compile it where it stands, with Janus (`janus`), oxigraph and
//! serde_json.
//!
//! Janus gets JanusQL. Each line of N-Triples is read by its own reader of lines, which is how it gets its events; what that cannot
//! read is unsupported. Windows over a log go back from the present by an OFFSET. With the greatest OFFSET the first one begins at 0.
//! `end` reads them one by one, up to the horizon `flush`. A query of several windows is unsupported: Janus answers each by itself.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

use janus::api::janus_api::JanusApiError;
use janus::core::RDFEvent;
use janus::execution::HistoricalExecutor;
use janus::extensions::query_options::build_evaluator;
use janus::parsing::janusql_parser::{JanusQLParser, WindowDefinition};
use janus::parsing::rdf_parser::parse_rdf_line;
use janus::querying::oxigraph_adapter::OxigraphAdapter;
use janus::storage::{segmented_storage::StreamingSegmentedStorage, util::StreamingConfig};
use oxigraph::{model::Term, store::Store};
use serde_json::{json, Value};

const LOG: &str = "urn:conformance:log"; // the graph of its events

extern "C" {
    fn dup2(old: i32, new: i32) -> i32;
}

/// A query of the suite, registered.
struct Case {
    window: WindowDefinition,
    sparql: String,
    log: Arc<StreamingSegmentedStorage>,
    latest: Option<u64>,
}

type Reports = Result<Vec<Value>, String>; // an error is the reason why something is unsupported

fn main() {
    let mut output = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned().expect("standard output"));
    unsafe { dup2(2, 1) }; // what Janus prints goes to standard error
    let mut case = None;
    for line in io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let mut reply = match catch_unwind(AssertUnwindSafe(|| answer(&mut case, &command))) {
            Ok(Ok(reports)) => json!({"reply": "result", "relations": reports}),
            Ok(Err(reason)) => json!({"reply": "unsupported", "reason": reason}),
            Err(_) => json!({"reply": "error", "context": "the engine panicked; see its standard error"}),
        };
        if command["command"] == "start" {
            reply = json!({"reply": "result", "protocol": 1, "engine": "janus", "version": "0.1.0"});
        }
        reply["seq"] = command["seq"].clone();
        writeln!(output, "{reply}").expect("standard output");
        if command["command"] == "stop" {
            return;
        }
    }
}

fn answer(case: &mut Option<Case>, command: &Value) -> Reports {
    match (text(&command["command"]), case) {
        ("register", case) => *case = Some(register(command)?),
        ("push", Some(case)) => push(case, command)?,
        ("end", Some(case)) => return read(case),
        _ => (),
    }
    Ok(vec![])
}

fn register(command: &Value) -> Result<Case, String> {
    let offset = format!("[OFFSET {} RANGE", u64::MAX);
    let text = text(&command["query"]).replace(" ON STREAM ", " ON LOG ").replace("[RANGE", &offset);
    let query = JanusQLParser.parse(&text).map_err(|error| format!("its parser says: {error}"))?;
    let ([window], [sparql]) = (&query.historical_windows[..], &query.sparql_queries[..]) else {
        return Err("it answers each window of a log by itself".into());
    };
    if command["static"].as_str().is_some_and(|facts| !facts.is_empty()) {
        return Err("its windows over a log do not see static data".into());
    }
    let asked = build_evaluator().parse_query(sparql).map_err(|error| format!("its SPARQL parser says: {error}"))?;
    let found = asked.on_store(&Store::new().expect("a store")).execute();
    found.map(drop).map_err(|error| format!("its SPARQL evaluator says: {error}"))?;
    let folder = std::env::temp_dir().join(format!("janus-{}", std::process::id()));
    let config = StreamingConfig { segment_base_path: folder.to_string_lossy().into(), ..StreamingConfig::default() };
    let log = StreamingSegmentedStorage::new(config).map_err(|error| error.to_string())?;
    std::fs::remove_dir_all(folder).map_err(|error| error.to_string())?; // so few events stay in memory
    Ok(Case { window: window.clone(), sparql: sparql.clone(), log: Arc::new(log), latest: None })
}

fn push(case: &mut Case, command: &Value) -> Result<(), String> {
    let at = command["at"].as_u64().ok_or("its instants are not negative")?;
    if text(&command["stream"]) != case.window.stream_name {
        return Ok(()); // the query does not name it
    }
    if command.get("end").is_some_and(|end| *end != command["at"]) {
        return Err("its events have an instant, and no interval".into());
    }
    let graph = Some(text(&command["graph"])).filter(|graph| !graph.is_empty());
    for line in graph.ok_or("its events are triples; this element has none")?.lines() {
        let read = parse_rdf_line(line, false).map_err(|error| format!("its reader of events says: {error}"))?;
        let event = RDFEvent { timestamp: at, graph: LOG.into(), ..read };
        case.log.write_rdf_event(event).map_err(|error| error.to_string())?;
    }
    case.latest = case.latest.max(Some(at));
    Ok(())
}

/// Return the report of each window that is over at the horizon, with its borders.
fn read(case: &Case) -> Reports {
    let Some(latest) = case.latest else { return Ok(vec![]) }; // without an event there is no horizon
    let (size, slide) = (case.window.width, case.window.slide);
    let executor = HistoricalExecutor::new(case.log.clone(), OxigraphAdapter::new());
    let answers = executor.execute_sliding_windows(&case.window, &case.sparql);
    let windows = (0..).map(|number| (number * slide, number * slide + size));
    let over = windows.take_while(|(_, close)| *close <= latest + 2 + size);
    let report = |((open, close), rows): ((u64, u64), Result<Vec<_>, JanusApiError>)| {
        let rows = rows.map_err(|error| error.to_string())?;
        Ok(json!({"window": [open, close], "rows": rows.into_iter().map(row).collect::<Vec<_>>()}))
    };
    over.zip(answers).map(report).collect()
}

/// Return a row, whose terms Janus writes as N-Triples.
fn row(bindings: HashMap<String, String>) -> Value {
    bindings.into_iter().map(|(name, written)| (name, term(&written.parse().expect("a term")))).collect()
}

fn term(term: &Term) -> Value {
    match term {
        Term::NamedNode(node) => json!({"type": "uri", "value": node.as_str()}),
        Term::BlankNode(node) => json!({"type": "bnode", "value": node.as_str()}),
        Term::Literal(literal) => {
            let mut written = json!({"type": "literal", "value": literal.value()});
            match literal.language() {
                Some(language) => written["xml:lang"] = language.into(),
                None => written["datatype"] = literal.datatype().as_str().into(),
            }
            written
        }
        #[allow(unreachable_patterns)] // of a triple, where oxigraph has it
        _ => panic!("a term that is none of RDF 1.1"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
