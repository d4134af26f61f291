// C-SPARQL on the wall clock behind the harness protocol, for runs by the clock:
// `java -cp CLASSPATH CsparqlLiveHarness.java VERSION [whole-second]`. The classpath is the engine's own; the Jena on it reads and
// writes the JSON here, too. One query a process.
//
// A triple is given to the engine when it is pushed, with the clock as its time, as YABench's runner does. So is the second that
// passes between registering the query and the first element. With `whole-second` it is waited further until the clock shows a whole
// second: version 0.9.7 lets windows begin at the whole second before the first element, earlier versions with that element. The
// engine answers by itself: what it has answered is told with the next reply, with the time since the first element. At the end the
// longest window and its slide are waited for.

import com.hp.hpl.jena.rdf.model.*;
import eu.larkc.csparql.cep.api.*;
import eu.larkc.csparql.common.*;
import eu.larkc.csparql.core.engine.CsparqlEngineImpl;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.regex.*;
import org.apache.jena.atlas.json.*;

public class CsparqlLiveHarness {
    static final long SETTLING = 1000; // ms between the query and the first element
    static final String XSD = "http://www.w3.org/2001/XMLSchema#";
    static final Pattern WINDOW = Pattern.compile("\\[RANGE (\\d+)(ms|[smhd]) (?:STEP (\\d+)(ms|[smhd])|TUMBLING)");
    static final Map<String, Long> UNITS = Map.of("ms", 1L, "s", 1000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L);

    final String version;
    final boolean isAtWholeSecond;
    final Map<String, RdfStream> streams = new TreeMap<>();
    final List<String> relations = Collections.synchronizedList(new ArrayList<>());
    long longest; // ms: the longest window and its slide together
    volatile long began = -1; // the clock at the first element
    long first; // its instant

    CsparqlLiveHarness(String version, boolean isAtWholeSecond) {
        this.version = version;
        this.isAtWholeSecond = isAtWholeSecond;
    }

    String reply(String command, JsonObject asked) throws Exception {
        if (command.equals("start")) return "\"protocol\": 1, \"engine\": \"csparql\", \"version\": " + new JsonString(version);
        if (command.equals("register")) register(asked);
        if (command.equals("push")) push(asked);
        if (command.equals("end")) Thread.sleep(longest);
        synchronized (relations) {
            String told = "\"relations\": [" + String.join(", ", relations) + "]";
            relations.clear();
            return told;
        }
    }

    void register(JsonObject asked) throws Exception {
        CsparqlEngineImpl engine = new CsparqlEngineImpl();
        engine.initialize();
        for (JsonValue name : asked.get("streams").getAsArray()) {
            streams.put(text(name), new RdfStream(text(name)));
            engine.registerStream(streams.get(text(name)));
        }
        String query = WINDOW.matcher(text(asked.get("query"))).replaceAll(found -> {
            long size = ms(found.group(1), found.group(2)), step = found.group(3) == null ? size : ms(found.group(3), found.group(4));
            if (size % 1000 != 0 || step % 1000 != 0) throw new UnsupportedOperationException("its windows last whole seconds");
            longest = Math.max(longest, size + step);
            return "[RANGE " + size / 1000 + "s STEP " + step / 1000 + "s";
        });
        if (asked.hasKey("static")) throw new UnsupportedOperationException("this harness gives it no static data");
        engine.registerQuery(query, false).addObserver((proxy, table) -> answer((RDFTable) table));
        Thread.sleep(SETTLING);
        if (isAtWholeSecond) Thread.sleep(1000 - System.currentTimeMillis() % 1000);
    }

    void push(JsonObject asked) {
        long now = System.currentTimeMillis();
        if (began < 0) {
            first = asked.get("at").getAsNumber().value().longValue();
            began = now;
        }
        Model graph = ModelFactory.createDefaultModel().read(new StringReader(text(asked.get("graph"))), null, "N-TRIPLE");
        for (Statement triple : graph.listStatements().toList())
            streams.get(text(asked.get("stream"))).put(new RdfQuadruple(said(triple.getSubject()), said(triple.getPredicate()), said(triple.getObject()), now));
    }

    /** Keeps a relation, with the time since the first element; one from before it is about nothing. */
    void answer(RDFTable table) {
        if (began < 0) return;
        long instant = first + System.currentTimeMillis() - began;
        String json = table.getJsonSerialization();
        JsonArray rows = new JsonArray();
        if (json != null && json.contains("\"bindings\"")) rows = JSON.parse(json.replace("\"type\": \"typed-literal\"", "\"type\": \"literal\"")).get("results").getAsObject().get("bindings").getAsArray();
        relations.add("{\"rows\": " + rows.toString().replace('\n', ' ') + ", \"instant\": " + instant + "}");
    }

    /** A term as the engine is told it: a text, `value^^datatype` for literals. */
    static String said(RDFNode term) {
        if (term.isAnon() || term.isLiteral() && !term.asLiteral().getLanguage().isEmpty()) throw new UnsupportedOperationException("its triples are of texts, which have no form for blank nodes and language tags");
        if (!term.isLiteral()) return term.toString();
        String type = term.asLiteral().getDatatypeURI();
        return term.asLiteral().getLexicalForm() + "^^" + (type == null ? XSD + "string" : type);
    }

    static String text(JsonValue value) { return value.getAsString().value(); }
    static long ms(String number, String unit) { return Math.multiplyExact(Long.parseLong(number), UNITS.get(unit)); }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the engine prints
        CsparqlLiveHarness harness = new CsparqlLiveHarness(arguments[0], List.of(arguments).contains("whole-second"));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line, command = "", reply; !command.equals("stop") && (line = lines.readLine()) != null; out.println(reply + "}")) {
            JsonObject asked = JSON.parse(line);
            command = text(asked.get("command"));
            reply = "{\"seq\": " + asked.get("seq") + ", \"reply\": ";
            try {
                reply += command.equals("stop") ? "\"result\"" : "\"result\", " + harness.reply(command, asked);
            } catch (Exception | Error broken) {
                reply += broken instanceof UnsupportedOperationException ? "\"unsupported\", \"reason\": " + new JsonString(broken.getMessage()) : "\"error\", \"context\": " + new JsonString("" + broken);
            }
        }
        System.exit(0);
    }
}
