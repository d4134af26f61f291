// C-SPARQL behind the harness protocol: `java -cp CLASSPATH CsparqlHarness.java`, one process a case. The classpath is the
// engine's own; the Jena on it reads and writes the JSON here, too.
//
// The engine is run on external time, which goes on by ticks. It has no windows below a second, so a millisecond of the suite
// is a second of the engine, and a tick. Its windows start with its first triple: that is one of ours, so long before the first element that no window holds both. At its ticks windows are (o, c]; elements come half a tick
// after theirs, so that those are the suite's [o, c). At the end a triple of ours far behind lets time go on.

import com.hp.hpl.jena.rdf.model.Literal;
import com.hp.hpl.jena.rdf.model.ModelFactory;
import com.hp.hpl.jena.rdf.model.RDFNode;
import com.hp.hpl.jena.rdf.model.Statement;
import eu.larkc.csparql.cep.api.RdfQuadruple;
import eu.larkc.csparql.cep.api.RdfStream;
import eu.larkc.csparql.common.RDFTable;
import eu.larkc.csparql.common.RDFTuple;
import eu.larkc.csparql.common.config.Config;
import eu.larkc.csparql.core.Configuration;
import eu.larkc.csparql.core.engine.CsparqlEngineImpl;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.regex.*;
import org.apache.jena.atlas.json.*;

public class CsparqlHarness {
    static final long UNIT = 1000; // ms of the engine: a ms of the suite, and a tick
    static final long LIMIT = 2_000_000; // ticks between two elements
    static final Pattern COMMENT = Pattern.compile("(\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*'|<[^<>\"{}|^`\\s]*>)|#[^\\n]*");
    static final Pattern WINDOW = Pattern.compile("\\[RANGE (\\d+)(ms|[smhd]) (?:STEP (\\d+)(ms|[smhd])|TUMBLING)");
    static final Map<String, Long> UNITS = Map.of("ms", 1L, "s", 1000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L);

    final Map<String, RdfStream> streams = new TreeMap<>();
    final List<String> relations = new ArrayList<>(); // since the last reply
    long slide = 1, reach; // all windows begin together every so many ms, and end at most so long after
    Long origin, last; // the instants of our first triple and of the latest element

    static class Unsupported extends Exception {
        Unsupported(String reason) { super(reason); }
    }

    String reply(String command, JsonObject asked) throws Exception {
        switch (command) {
            case "start": return "\"protocol\": 1, \"engine\": \"csparql\", \"version\": \"0.9.7\"";
            case "register": register(asked); break;
            case "push": push(asked); break;
            case "end": if (last != null) ours(last + reach + 2 * slide); break;
            case "stop": return "";
        }
        String told = "\"relations\": [" + String.join(", ", relations) + "]";
        relations.clear();
        return told;
    }

    void register(JsonObject asked) throws Exception {
        Properties settings = new Properties();
        settings.put("esper.externaltime.enabled", true);
        settings.put("esper.externaltime.tick", UNIT);
        Config.INSTANCE.setConfigParams(settings);
        CsparqlEngineImpl engine = new CsparqlEngineImpl();
        engine.initialize(true);
        for (JsonValue name : asked.get("streams").getAsArray()) {
            streams.put(text(name), new RdfStream(text(name)));
            engine.registerStream(streams.get(text(name)));
        }
        String query = COMMENT.matcher(text(asked.get("query"))).replaceAll(found -> found.group(1) == null ? "" : Matcher.quoteReplacement(found.group()));
        query = WINDOW.matcher(query).replaceAll(found -> { // it joins the lines of a query, so comments are gone
            long size = ms(found.group(1), found.group(2)), step = found.group(3) == null ? size : ms(found.group(3), found.group(4));
            slide = slide / gcd(slide, step) * step;
            reach = Math.max(reach, size);
            return "[RANGE " + size + "s " + (found.group(3) == null ? "TUMBLING" : "STEP " + step + "s");
        });
        if (asked.hasKey("static")) {
            engine.putStaticNamedModel("urn:static", text(asked.get("static")));
            query = query.replaceFirst("FROM ", "FROM <urn:static> FROM ");
        }
        try {
            Configuration.getCurrentConfiguration().createTranslator(engine).translate(query); // registerQuery hides what is wrong
            engine.registerQuery(query, false).addObserver((proxy, table) -> relations.add(relation((RDFTable) table)));
        } catch (Exception | Error refused) {
            throw new Unsupported("it does not take the query: " + refused);
        }
    }

    void push(JsonObject asked) throws Exception {
        long at = asked.get("at").getAsNumber().value().longValue();
        if (asked.hasKey("end")) throw new Unsupported("its elements have an instant, and no interval");
        if (last == null) {
            origin = (Math.floorDiv(at, slide) - reach / slide - 3) * slide - reach / slide * slide + reach;
            ours(origin);
        } else if (Math.subtractExact(at, last) > LIMIT) {
            throw new Unsupported("its time goes on by ticks, and " + (at - last) + " of them are too many");
        }
        List<Statement> triples = ModelFactory.createDefaultModel().read(new StringReader(text(asked.get("graph"))), null, "N-TRIPLE").listStatements().toList();
        if (triples.isEmpty()) throw new Unsupported("its elements are triples; this one has none");
        for (Statement triple : triples) {
            put(streams.get(text(asked.get("stream"))), said(triple.getSubject()), said(triple.getPredicate()), said(triple.getObject()), time(at) + UNIT / 2);
            if (last == null) relations.clear(); // they are about our own triple
            last = Math.max(at, last == null ? at : last);
        }
    }

    static long ms(String number, String unit) { return Math.multiplyExact(Long.parseLong(number), UNITS.get(unit)); }

    long time(long at) { return Math.multiplyExact(Math.addExact(Math.subtractExact(at, origin), slide), UNIT); }

    void ours(long at) throws Exception {
        if (reach == 0) return; // a window of triples has no time
        for (RdfStream stream : streams.values()) put(stream, "urn:sentinel", "urn:sentinel", "urn:sentinel", time(at));
    }

    static void put(RdfStream stream, String subject, String predicate, String object, long time) throws Unsupported {
        try {
            stream.put(new RdfQuadruple(subject, predicate, object, time));
        } catch (RuntimeException refused) {
            if (!"unordered stream".equals(refused.getMessage())) throw refused;
            throw new Unsupported("it says: unordered stream");
        }
    }

    /** A term as the engine is told it: a text, `value^^datatype` for literals. */
    static String said(RDFNode term) throws Unsupported {
        if (term.isAnon()) throw new Unsupported("its triples are of texts, which have no form for blank nodes");
        if (!term.isLiteral()) return term.toString();
        Literal literal = term.asLiteral();
        if (!literal.getLanguage().isEmpty()) throw new Unsupported("its triples are of texts, which have no form for language tags");
        String type = literal.getDatatypeURI();
        return literal.getLexicalForm() + "^^" + (type == null ? "http://www.w3.org/2001/XMLSchema#string" : type);
    }

    static String relation(RDFTable table) {
        JsonArray rows = new JsonArray();
        List<String> names = new ArrayList<>(table.getNames());
        String json = table.getJsonSerialization(); // of SELECT; that of CONSTRUCT is JSON-LD
        if (json != null && json.contains("\"bindings\"")) {
            for (JsonValue row : JSON.parse(json).get("results").getAsObject().get("bindings").getAsArray()) {
                for (JsonValue term : row.getAsObject().values())
                    if (text(term.getAsObject().get("type")).equals("typed-literal")) term.getAsObject().put("type", "literal");
                rows.add(row);
            }
        } else {
            for (RDFTuple tuple : table) {
                JsonObject row = new JsonObject();
                boolean ask = names.equals(List.of("Answer"));
                for (int i = 0; i < names.size(); i++)
                    row.put(ask ? "ask" : names.get(i).toLowerCase(), term(ask ? '"' + tuple.get(i) + "\"^^http://www.w3.org/2001/XMLSchema#boolean" : tuple.get(i)));
                rows.add(row);
            }
        }
        return "{\"rows\": " + rows.toString().replace('\n', ' ') + "}";
    }

    /** A term of a tuple: `"value"^^datatype`, an IRI, or Jena's name of a blank node. */
    static JsonObject term(String text) {
        JsonObject term = new JsonObject();
        int end = text.startsWith("\"") ? text.lastIndexOf("\"^^") : -1;
        term.put("type", end > 0 ? "literal" : text.matches("-?[0-9a-f]+(:-?[0-9a-f]+)+") ? "bnode" : "uri");
        term.put("value", end > 0 ? text.substring(1, end) : text);
        if (end > 0 && !text.endsWith("^^null")) term.put("datatype", text.substring(end + 3));
        return term;
    }

    static String text(JsonValue value) { return value.getAsString().value(); }

    static long gcd(long a, long b) { return b == 0 ? a : gcd(b, a % b); }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the engine prints
        CsparqlHarness harness = new CsparqlHarness();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null; ) {
            JsonObject asked = JSON.parse(line);
            String command = text(asked.get("command")), head = "{\"seq\": " + asked.get("seq") + ", \"reply\": ", more;
            try {
                more = harness.reply(command, asked);
                out.print(head + "\"result\"" + (more.isEmpty() ? "" : ", " + more));
            } catch (Unsupported reason) {
                out.print(head + "\"unsupported\", \"reason\": " + new JsonString(reason.getMessage()));
            } catch (Exception | Error broken) {
                out.print(head + "\"error\", \"context\": " + new JsonString(broken.toString()));
            }
            out.println("}");
            if (command.equals("stop")) System.exit(0);
        }
    }
}
