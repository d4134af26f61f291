// C-SPARQL behind the harness protocol: `java -cp CLASSPATH CsparqlHarness.java`. The classpath is the engine's own; the Jena on
// it reads and writes the JSON here, too. Each case has an engine of its own; the engines of a process share one Esper, which
// each of them begins anew when it is initialized.
//
// The engine is run on external time, which goes on by ticks. It has no windows below a second, so a millisecond of the suite
// is a second of the engine, and a tick. Its windows start with its first triple: that is one of ours, so long before the first
// element that no window holds both, and so that windows open at multiples of the slide. At its ticks they are (o, c]; elements
// come half a tick after theirs, so that those are the suite's [o, c). At the end a triple of ours far behind lets time go on.

import com.hp.hpl.jena.rdf.model.*;
import eu.larkc.csparql.cep.api.*;
import eu.larkc.csparql.common.*;
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
    static final String XSD = "http://www.w3.org/2001/XMLSchema#";
    static final Pattern COMMENT = Pattern.compile("(\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*'|<[^<>\"{}|^`\\s]*>)|#[^\\n]*");
    static final Pattern WINDOW = Pattern.compile("\\[RANGE (\\d+)(ms|[smhd]) (?:STEP (\\d+)(ms|[smhd])|TUMBLING)");
    static final Map<String, Long> UNITS = Map.of("ms", 1L, "s", 1000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L);

    final Map<String, RdfStream> streams = new TreeMap<>();
    final List<String> relations = new ArrayList<>(); // told at the end, when it is known that it takes all elements
    long slide = 1, reach; // all windows begin together every so many ms, and end at most so long after
    Long origin, last; // the instants of our first triple and of the latest element

    String reply(String command, JsonObject asked) throws Exception {
        if (command.equals("start")) return "\"protocol\": 1, \"engine\": \"csparql\", \"version\": \"0.9.7\"";
        if (command.equals("register")) register(asked);
        if (command.equals("push")) push(asked);
        if (command.equals("end") && last != null) ours(last + reach + 2 * slide);
        return "\"relations\": [" + (command.equals("end") ? String.join(", ", relations) : "") + "]";
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
        // It joins the lines of a query, so that a comment would swallow what follows.
        String query = COMMENT.matcher(text(asked.get("query"))).replaceAll(found -> found.group(1) == null ? "" : Matcher.quoteReplacement(found.group()));
        query = WINDOW.matcher(query).replaceAll(found -> {
            long size = ms(found.group(1), found.group(2)), step = found.group(3) == null ? size : ms(found.group(3), found.group(4));
            slide = slide / gcd(slide, step) * step;
            reach = Math.max(reach, size);
            return "[RANGE " + size + "s " + (found.group(3) == null ? "TUMBLING" : "STEP " + step + "s");
        });
        try {
            if (asked.hasKey("static")) {
                engine.putStaticNamedModel("urn:static", text(asked.get("static")));
                query = query.replaceFirst("FROM ", "FROM <urn:static> FROM ");
            }
            Configuration.getCurrentConfiguration().createTranslator(engine).translate(query); // registerQuery hides what is wrong
            engine.registerQuery(query, false).addObserver((proxy, table) -> relations.add(relation((RDFTable) table)));
        } catch (Exception | Error refused) {
            throw new UnsupportedOperationException("it does not take the query or its static data: " + refused);
        }
    }

    void push(JsonObject asked) throws Exception {
        long at = asked.get("at").getAsNumber().value().longValue();
        if (asked.hasKey("end")) throw new UnsupportedOperationException("its elements have an instant, and no interval");
        if (last != null && Math.subtractExact(at, last) > LIMIT) throw new UnsupportedOperationException("its time goes on by ticks, and " + (at - last) + " of them are too many");
        RdfStream stream = streams.get(text(asked.get("stream")));
        Model graph = ModelFactory.createDefaultModel().read(new StringReader(text(asked.get("graph"))), null, "N-TRIPLE");
        if (graph.isEmpty()) throw new UnsupportedOperationException("its elements are triples; this one has none");
        if (last == null) ours(origin = Math.floorDiv(at, slide) * slide + reach - (2 * (reach / slide) + 3) * slide);
        for (Statement triple : graph.listStatements().toList()) {
            stream.put(new RdfQuadruple(said(triple.getSubject()), said(triple.getPredicate()), said(triple.getObject()), time(at) + UNIT / 2));
            if (last == null) relations.clear(); // they are about our own triple
            last = last == null ? at : Math.max(at, last);
        }
    }

    long time(long at) { return Math.multiplyExact(Math.addExact(Math.subtractExact(at, origin), slide), UNIT); }

    void ours(long at) throws Exception {
        if (reach > 0) for (RdfStream stream : streams.values()) stream.put(new RdfQuadruple("urn:sentinel", "urn:sentinel", "urn:sentinel", time(at)));
    }

    /** A term as the engine is told it: a text, `value^^datatype` for literals. */
    static String said(RDFNode term) {
        if (term.isAnon() || term.isLiteral() && !term.asLiteral().getLanguage().isEmpty()) throw new UnsupportedOperationException("its triples are of texts, which have no form for blank nodes and language tags");
        if (!term.isLiteral()) return term.toString();
        String type = term.asLiteral().getDatatypeURI();
        return term.asLiteral().getLexicalForm() + "^^" + (type == null ? XSD + "string" : type);
    }

    static String relation(RDFTable table) {
        JsonArray rows = new JsonArray();
        List<String> names = new ArrayList<>(table.getNames());
        String json = table.getJsonSerialization();
        if (json != null && json.contains("\"bindings\"")) rows = JSON.parse(json.replace("\"type\": \"typed-literal\"", "\"type\": \"literal\"")).get("results").getAsObject().get("bindings").getAsArray();
        else for (RDFTuple tuple : table) { // of ASK, or of CONSTRUCT, whose JSON is of another kind
            JsonObject row = new JsonObject();
            if (names.size() == 1) row.put("ask", term('"' + tuple.get(0) + "\"^^" + XSD + "boolean"));
            else for (int i = 0; i < names.size(); i++) row.put(names.get(i).toLowerCase(), term(tuple.get(i)));
            rows.add(row);
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
    static long ms(String number, String unit) { return Math.multiplyExact(Long.parseLong(number), UNITS.get(unit)); }
    static long gcd(long a, long b) { return b == 0 ? a : gcd(b, a % b); }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the engine prints
        CsparqlHarness harness = new CsparqlHarness();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line, command = "", reply; !command.equals("stop") && (line = lines.readLine()) != null; out.println(reply + "}")) {
            JsonObject asked = JSON.parse(line);
            command = text(asked.get("command"));
            reply = "{\"seq\": " + asked.get("seq") + ", \"reply\": ";
            try {
                if (command.equals("register")) harness = new CsparqlHarness();
                reply += command.equals("stop") ? "\"result\"" : "\"result\", " + harness.reply(command, asked);
            } catch (Exception | Error broken) {
                boolean says = broken instanceof UnsupportedOperationException || broken instanceof ArithmeticException || "unordered stream".equals(broken.getMessage());
                reply += says ? "\"unsupported\", \"reason\": " + new JsonString((broken instanceof ArithmeticException ? "its clock has 64 bits: " : "") + broken.getMessage()) : "\"error\", \"context\": " + new JsonString("" + broken);
            }
        }
        System.exit(0);
    }
}
