(* Reads cases as JSON, one on a line, and writes for each a line with the reports of
   Firings.evaluate_with. Nothing is computed here: this file translates, and fails with a message. *)
open Definitions

exception Malformed of string

(* JSON *)

type json = Null | Bool of bool | Number of string | Text of string | List of json list
          | Object of (string * json) list

let read_json line =
  let place = ref 0 in
  let malformed what = raise (Malformed (Printf.sprintf "column %d: %s" (!place + 1) what)) in
  let peek () = if !place < String.length line then line.[!place] else '\000' in
  let rec skip () = match peek () with ' ' | '\t' | '\r' -> incr place; skip () | _ -> () in
  let expect c = skip (); if peek () = c then incr place else malformed (Printf.sprintf "expected %C" c) in
  let word text value =
    let n = String.length text in
    if !place + n <= String.length line && String.sub line !place n = text then (place := !place + n; value)
    else malformed ("expected " ^ text) in
  let text () =
    expect '"';
    let start = !place in
    while peek () <> '"' do
      if peek () = '\000' || peek () = '\\' then malformed "a text without escapes is expected";
      incr place
    done;
    incr place;
    String.sub line start (!place - 1 - start) in
  let number () =
    let start = !place in
    if peek () = '-' then incr place;
    let first = !place in
    while (match peek () with '0' .. '9' -> true | _ -> false) do incr place done;
    if !place = first then malformed "a value is expected";
    Number (String.sub line start (!place - start)) in
  let rec value () =
    skip ();
    match peek () with
    | 'n' -> word "null" Null
    | 't' -> word "true" (Bool true)
    | 'f' -> word "false" (Bool false)
    | '"' -> Text (text ())
    | '[' -> incr place; List (several ']' value)
    | '{' -> incr place; Object (several '}' (fun () -> skip (); let key = text () in expect ':'; (key, value ())))
    | _ -> number ()
  and several : 'a. char -> (unit -> 'a) -> 'a list = fun close one ->
    skip ();
    if peek () = close then (incr place; []) else
    let rec others found =
      let found = one () :: found in
      skip ();
      if peek () = ',' then (incr place; others found) else (expect close; List.rev found) in
    others [] in
  let found = value () in
  skip ();
  if peek () <> '\000' then malformed "more than one value";
  found

let rec write_json = function
  | Null -> "null"
  | Bool b -> string_of_bool b
  | Number digits -> digits
  | Text text -> Printf.sprintf "%S" text
  | List values -> "[" ^ String.concat "," (List.map write_json values) ^ "]"
  | Object fields ->
      let field (key, value) = Printf.sprintf "%S:%s" key (write_json value) in
      "{" ^ String.concat "," (List.map field fields) ^ "}"

(* Numbers *)

let rec positive n = if n = 1 then XH else if n land 1 = 1 then XI (positive (n lsr 1)) else XO (positive (n lsr 1))
let small n = if n = 0 then Z0 else Zpos (positive n)
let ten = small 10
let read_number digits =
  let is_negative = digits.[0] = '-' in
  let add total c = if c = '-' then total else Z.add (Z.mul total ten) (small (Char.code c - 48)) in
  let total = String.fold_left add Z0 digits in
  if is_negative then Z.opp total else total
let rec int_of = function XH -> 1 | XO p -> 2 * int_of p | XI p -> 2 * int_of p + 1
let digit = function Zpos p -> string_of_int (int_of p) | _ -> "0"
let rec write_number z =
  if Z.ltb z Z0 then "-" ^ write_number (Z.opp z)
  else if Z.ltb z ten then digit z
  else let (rest, last) = Z.div_eucl z ten in write_number rest ^ digit last

(* Cases *)

let field key = function
  | Object fields -> (try List.assoc key fields with Not_found -> raise (Malformed ("no key " ^ key)))
  | _ -> raise (Malformed ("an object with a key " ^ key ^ " is expected"))
let number = function Number digits -> read_number digits | _ -> raise (Malformed "a number is expected")
let flag = function Bool b -> b | _ -> raise (Malformed "true or false is expected")
let list read = function List values -> List.map read values | _ -> raise (Malformed "a list is expected")
let option read = function Null -> None | value -> Some (read value)
let choose key choices case =
  match field key case with
  | Text word -> (try List.assoc word choices with Not_found -> raise (Malformed (key ^ " has no value " ^ word)))
  | _ -> raise (Malformed (key ^ ": a word is expected"))

let triple = function
  | List [s; p; o] -> ((number s, number p), number o)
  | _ -> raise (Malformed "a triple is three numbers")
let quad = function
  | List [s; p; o; g] -> (((number s, number p), number o), number g)
  | _ -> raise (Malformed "a quad is four numbers")
let word = function
  | Number digits -> Const (read_number digits)
  | List [variable] -> Var (number variable)
  | _ -> raise (Malformed "a term is a number, a variable is a number in a list")
let pattern = function
  | List [s; p; o] -> ((word s, word p), word o)
  | _ -> raise (Malformed "a pattern has three words")

let operators = ["Rstream", Rstream; "Istream", Istream; "Dstream", Dstream; "append", Append]
let origin case =
  match field "t0" case with
  | Number digits -> At (read_number digits)
  | Text "epoch" -> Epoch (number (field "offset" case))
  | _ -> choose "t0" ["first-element", FirstElement; "first-reach", FirstReach; "registration", Registration;
                      "coral8", Coral8; "oracle-cep", OracleCep; "stream", Stream; "flink", Flink;
                      "storm", Storm; "kafka-streams", KafkaStreams] case
let anchor case =
  match field "anchor" case with
  | Number digits -> AnchorAt (read_number digits)
  | _ -> choose "anchor" ["t0", AnchorT0; "first-element", AnchorFirst] case
let end_of case =
  match field "horizon" case with
  | Number digits -> HorizonAt (read_number digits)
  | _ -> choose "horizon" ["none", NoHorizon; "flush", Flush] case
let allowed case =
  match field "allowed_lateness" case with
  | Number digits -> Some (read_number digits)
  | _ -> choose "allowed_lateness" ["reject", None] case

let semantics case =
  let conditions = list (function Text word -> word | _ -> raise (Malformed "a word is expected")) (field "report" case) in
  let named word = List.mem word conditions in
  { t1 = origin case;
    closure0 = choose "closure" ["[)", RightOpen; "(]", LeftOpen; "[]", Closed; "none", Closed] case;
    slide_choice = choose "slide" ["stated", Stated; "ignored", Ignored] case;
    partial0 = choose "partial" ["suppressed", Suppressed; "reported", Reported; "clipped", Clipped] case;
    window_close = named "window-close";
    content_change = named "content-change";
    non_empty = named "non-empty";
    periodic = if named "periodic" then Some (number (field "period" case), anchor case) else None;
    close_rule = choose "close_rule" ["reached", Reached; "passed", Passed] case;
    baseline0 = choose "change_baseline" ["last-report", LastReport; "previous-instant", PreviousInstant] case;
    change_scope = choose "change_scope" ["elements", ByElements; "graph", ByGraph] case;
    expiry_seen = choose "expiry_seen" ["replayed", Replayed; "eager", Eager] case;
    missed0 = choose "missed_instants" ["all", All; "latest", Latest] case;
    tick0 = choose "tick" ["tuple", TupleTick; "time", TimeTick; "batch", BatchTick] case;
    trigger0 = choose "trigger" ["any", AnyOf; "all", AllOf; "leading", Leading; "explicit", Explicit] case;
    collection0 = choose "collection" ["bag", AsBag; "set", AsSet] case;
    consumption0 = choose "consumption" ["unrestricted", Unrestricted; "recent", Recent; "chronological", Chronological] case;
    r2s = choose "r2s" operators case;
    base0 = choose "base" ["previous", Previous; "previous-new", PreviousNew; "none", Previous] case;
    empty0 = choose "empty" ["emit", Emit; "suppress", Suppress; "once", Once] case;
    horizon0 = end_of case;
    instant0 = choose "instant" ["close", AtClose; "evaluation", AtEvaluation; "trigger", AtTrigger; "eager", AtEager] case;
    lateness = allowed case }
let firings case =
  let count key = match field key case with Text "none" -> None | value -> Some (number value) in
  { reported_windows = choose "reported_windows" ["active", Active; "every", Every] case;
    exact_gap = choose "exact_gap" ["joins", Joins; "parts", Parts] case;
    expired_session = choose "expired_session" ["gone", Gone; "joined", Joined] case;
    session_border = choose "session_border" ["gap", AtGap; "last", AtLast; "next", AtNext] case;
    early_count = count "early_count";
    early_period = count "early_period";
    panes0 = choose "panes" ["accumulating", Accumulating; "discarding", Discarding; "retracting", Retracting;
                            "replacing", Replacing] case;
    late_for = choose "late_for" ["stream", ForStream; "window", ForWindow; "nothing", ForNothing] case;
    watermark_of = choose "watermark" ["greatest", Greatest; "punctuation", Punctuation; "none", Greatest] case;
    watermark_delay = Option.value (count "watermark_delay") ~default:Z0;
    expiry_rule = choose "expiry_rule" ["reached", Reached; "passed", Passed; "none", Reached] case;
    clock0 = choose "clock" ["stream", OfStream; "key", OfKey] case }

let key_part = function
  | Text "subject" -> Subject
  | Text "predicate" -> Predicate
  | Text "object" -> Object
  | value -> ObjectOf (number value)
let window case =
  { on = number (field "stream" case);
    kind0 = choose "kind" ["time", Time; "tuple", Tuple; "range", Range; "now", Now; "unbounded", Unbounded;
                           "landmark", Landmark; "rows", Rows; "partition", Partition; "session", Session] case;
    size = (match field "size" case with Null -> Z0 | value -> number value);
    stated = option number (field "slide" case);
    unit0 = choose "unit" ["elements", PerElement; "triples", PerTriple] case;
    by_ = list key_part (field "by" case);
    name = number (field "name" case);
    triggers = flag (field "triggers" case);
    lag = number (field "lag" case) }
let query case =
  { windows = list window (field "windows" case);
    registered = option number (field "registered" case);
    operator = option (fun value -> choose "r2s" operators (Object ["r2s", value])) (field "operator" case);
    static = list quad (field "static" case);
    patterns = list pattern (field "patterns" case);
    selected = list number (field "selected" case) }
let element case =
  { stream = number (field "stream" case); app0 = number (field "app" case); until = number (field "end" case);
    sys = number (field "sys" case); batch = number (field "batch" case); graph = list triple (field "graph" case) }

(* The body: one of Bodies.v, or a table of datasets and their answers. *)
let body case =
  match field "body" case with
  | Text "objects" -> objects
  | Text "count" -> count_all
  | Text "graphs" -> graphs
  | value ->
      let entry = function
        | List [dataset; answer] -> (List.sort compare (list quad dataset), list (list number) answer)
        | _ -> raise (Malformed "an entry of a table is a dataset and its answer") in
      let table = list entry value in
      fun dataset ->
        try List.assoc (List.sort compare dataset) table
        with Not_found -> raise (Malformed "a dataset that the table does not have")

let emitted ((one, is_taken_back), key) =
  let report = one.report0 in
  let z value = Number (write_number value) in
  let borders = function None -> Null | Some (o, c) -> List [z o; z c] in
  let content es = List (List.map (fun e -> z e.sys) es) in
  Object ["t", z report.at_instant; "trigger", z one.triggered_by; "instant", z one.stamped;
          "windows", List (List.map borders report.shown);
          "contents", List (List.map content report.holding); "late", z one.late;
          "rows", List (List.map (fun row -> List (List.map z row)) one.rows);
          "takes_back", Bool is_taken_back; "key", List (List.map z key)]
let answer line =
  try
    let case = read_json line in
    let fields = field "semantics" case in
    let reports = evaluate_with (body case) (semantics fields) (firings fields) (query case)
        (list element (field "elements" case)) in
    Object ["reports", List (List.map emitted reports)]
  with Malformed reason -> Object ["error", Text reason]

let () = try while true do print_endline (write_json (answer (input_line stdin))) done with End_of_file -> ()
