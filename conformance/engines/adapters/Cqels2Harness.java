// CQELS 2.0 behind the harness protocol: `java -cp CLASSPATH Cqels2Harness.java`. Jackson and RDF4J are on the engine's classpath.
// It runs on application time, and answers inside the call that pushes an element. It has no durations below a second, so a
// millisecond of the suite is a second of the engine. Its rows have Java's values instead of terms, and texts for most of them.

import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.node.*;
import java.io.*;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.regex.*;
import java.util.stream.Collectors;
import org.cqels.engine.*;
import org.cqels.lang.CqelsQueryParser;
import org.eclipse.rdf4j.model.*;
import org.eclipse.rdf4j.model.impl.SimpleValueFactory;
import org.eclipse.rdf4j.model.util.Values;
import org.eclipse.rdf4j.rio.*;
import org.eclipse.rdf4j.rio.helpers.*;

public class Cqels2Harness {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map<String, Long> MS = Map.of("ms", 1L, "s", 1000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L);
    static final Pattern DURATION = Pattern.compile("(\\d+)(ms|[smhd])");
    static final Pattern BLOCK = Pattern.compile("STREAM <([^>]*)> \\[([^\\]]*)\\] \\{");
    static final Pattern PROLOGUE = Pattern.compile("(?i)\\A(?:\\s*(?:PREFIX\\s+[^\\s:]*:\\s*<[^>]*>|BASE\\s+<[^>]*>))*");
    static final Pattern TOKEN = Pattern.compile("\"(?:\\\\.|[^\"\\\\])*\"|'(?:\\\\.|[^'\\\\])*'|<[^<>\\s]*>|[{}]|(?<![\\w.:-]):");

    final Map<String, String> names = new LinkedHashMap<>(); // from the IRI of a stream of the query to its name in the engine
    final Map<String, String> windows = new LinkedHashMap<>(); // from this name to the stream's window
    final Map<String, Set<Value>> terms = new HashMap<>(); // the terms that have been pushed, by their text
    final List<Map<String, Object>> rows = new ArrayList<>(); // since the last command
    final List<List<Map<String, Object>>> reports = new ArrayList<>(); // sent at the end, when all terms are known
    static CQELSEngine engine; // for one query
    String query;
    Throwable broken;

    void register(JsonNode asked) {
        query = TOKEN.matcher(asked.get("query").asText()).replaceAll(found -> Matcher.quoteReplacement(found.group().equals(":") ? "suite:" : found.group())); // it does not know the prefix without a name
        if (asked.has("static")) throw new UnsupportedOperationException("the harness gives it no static data");
        for (boolean withBlocks : new boolean[] {true, false}) try { // in a block the engine takes triple patterns alone
            start(rewrite(query, withBlocks));
            return;
        } catch (RuntimeException refused) {
            if (!withBlocks || names.size() > 1) throw new UnsupportedOperationException("it does not take the query: " + refused.getMessage(), refused);
        }
    }

    void start(String text) {
        broken = null;
        CqelsQueryParser.parseCqelsQLStrict(text); // without this the engine goes on without what it cannot read
        if (engine != null) engine.close();
        engine = CQELSEngine.builder().id("suite").withMemoryStore().build();
        names.values().forEach(engine::createStream);
        engine.registerCqelsQuery(text, new QueryResultListener<Map<String, Object>>() {
            public void onResult(Map<String, Object> row) { rows.add(new TreeMap<>(row)); }
            public void onError(Throwable failed) { broken = failed; }
        });
        engine.start();
        if (broken != null) throw new IllegalArgumentException(broken);
    }

    /** Return a query in CQELS-QL 2.0: windows are declared before WHERE, and a STREAM block names its stream. */
    String rewrite(String text, boolean withBlocks) {
        Matcher block = BLOCK.matcher(text);
        if (!block.find()) throw new UnsupportedOperationException("no window is found in the query");
        int where = text.lastIndexOf('{', block.start());
        StringBuilder body = new StringBuilder(text.substring(where));
        while ((block = BLOCK.matcher(body)).find()) {
            String name = names.computeIfAbsent(block.group(1), iri -> "Stream" + names.size());
            String extent = block.group(2).replace(" TUMBLING", "").replace("SLIDE", "STEP");
            String window = DURATION.matcher(extent).replaceAll(found -> Math.multiplyExact(Long.parseLong(found.group(1)), MS.get(found.group(2))) + "s"), before = windows.put(name, window);
            if (before != null && !before.equals(window)) throw new UnsupportedOperationException("two windows over one stream need named windows, which it does not execute");
            if (!withBlocks) body.deleteCharAt(close(body, block.end()));
            body.replace(block.start(), block.end(), withBlocks ? "STREAM " + name + " {" : "");
        }
        String from = windows.entrySet().stream().map(each -> "\nFROM STREAM " + each.getKey() + " [" + each.getValue() + "]").collect(Collectors.joining());
        String head = text.substring(0, where).replaceFirst("(?i)\\bWHERE\\s*\\z", "");
        return PROLOGUE.matcher(head).replaceFirst("$0\nREGISTER QUERY q AS\n") + from + "\nWHERE " + body;
    }

    /** Return the place of the brace that ends a group whose first brace is before `start`. */
    static int close(CharSequence text, int start) {
        Matcher brace = TOKEN.matcher(text).region(start, text.length());
        for (int depth = 1; brace.find(); ) if ((depth += brace.group().equals("{") ? 1 : brace.group().equals("}") ? -1 : 0) == 0) return brace.start();
        throw new UnsupportedOperationException("the query has a group without an end");
    }

    void push(JsonNode asked) throws Exception {
        if (asked.has("end")) throw new UnsupportedOperationException("its elements have an instant, and no interval");
        ParserConfig settings = new ParserConfig().set(BasicParserSettings.PRESERVE_BNODE_IDS, true).set(BasicParserSettings.VERIFY_DATATYPE_VALUES, false);
        Model graph = Rio.parse(new StringReader(asked.get("graph").asText()), "", RDFFormat.NTRIPLES, settings, SimpleValueFactory.getInstance(), new ParseErrorLogger());
        for (Statement triple : graph) for (Value value : List.of(triple.getSubject(), triple.getPredicate(), triple.getObject())) terms.computeIfAbsent(value.stringValue(), text -> new LinkedHashSet<>()).add(value);
        String name = names.get(asked.get("stream").asText());
        if (name != null) engine.getStream(name).push(graph, Math.multiplyExact(asked.get("at").asLong(), 1000)); // a second for a millisecond
    }

    static ObjectNode term(Value value) {
        ObjectNode term = JSON.createObjectNode().put("type", value.isIRI() ? "uri" : value.isBNode() ? "bnode" : "literal").put("value", value.stringValue());
        if (value.isLiteral()) ((Literal) value).getLanguage().ifPresentOrElse(tag -> term.put("xml:lang", tag), () -> term.put("datatype", ((Literal) value).getDatatype().stringValue()));
        return term;
    }

    /** Return the term that one of Java's values stands for. */
    Value meant(Object value) {
        if (value instanceof Long || value instanceof Integer) return Values.literal(new BigInteger(value.toString()));
        if (!(value instanceof String)) return Values.literal(value);
        Set<Value> known = terms.getOrDefault(value, Set.of());
        if (known.size() > 1) throw new UnsupportedOperationException("its rows do not say which of " + known + " is meant");
        if (known.size() == 1) return known.iterator().next();
        return query.contains("<" + value + ">") ? Values.iri((String) value) : Values.literal(value);
    }

    void reply(ObjectNode answer, String command, JsonNode asked) throws Exception {
        if (command.equals("register")) register(asked);
        if (command.equals("push")) push(asked);
        if (command.equals("end")) names.values().forEach(name -> engine.getStream(name).complete());
        if (broken != null) throw new IllegalStateException("the query has ended: " + broken);
        if (!rows.isEmpty()) reports.add(List.copyOf(rows));
        rows.clear();
        ArrayNode relations = answer.putArray("relations");
        if (command.equals("end")) for (List<Map<String, Object>> report : reports) {
            for (Map<String, Object> row : report) row.values().removeIf(Objects::isNull);
            for (Map<String, Object> row : report) row.replaceAll((name, value) -> term(meant(value)));
            relations.addObject().set("rows", JSON.valueToTree(report));
        }
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the engine prints
        Cqels2Harness harness = new Cqels2Harness();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line, command = ""; !command.equals("stop") && (line = lines.readLine()) != null; ) {
            JsonNode asked = JSON.readTree(line);
            command = asked.get("command").asText();
            if (command.equals("register")) harness = new Cqels2Harness();
            ObjectNode answer = JSON.createObjectNode().put("reply", "result");
            try {
                if (command.equals("start")) answer.put("protocol", 1).put("engine", "cqels2").put("version", "2.0.0-alpha.18");
                else if (!command.equals("stop")) harness.reply(answer, command, asked);
            } catch (Throwable failed) {
                String refusal = failed instanceof ArithmeticException ? "its clock has 64 bits" : failed instanceof UnsupportedOperationException ? failed.getMessage() : null;
                answer.removeAll().put("reply", refusal == null ? "error" : "unsupported").put(refusal == null ? "context" : "reason", refusal == null ? failed.toString() : refusal);
            }
            out.println(answer.<JsonNode>set("seq", asked.get("seq")));
        }
        System.exit(0);
    }
}
