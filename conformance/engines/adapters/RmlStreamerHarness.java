// RMLStreamer's dynamic window behind the harness protocol: `java -cp CLASSPATH RmlStreamerHarness.java`. The classpath has the
// compiled classes of RMLStreamer's window, and Flink with its operator test harnesses.
//
// The query is the value of a window of a join (PROTOCOL.md, "Joins"). Flink's harness drives the operator in event time, in one
// thread: a record is processed inside the call that pushes it, and a timer fires inside the call that advances the watermark.
// Each join key has an operator of its own, since the state of one key is not seen by another. (Flink would read a key selector
// back from bytes, and finds no class that was compiled from this file as it started.)

import io.rml.framework.core.item.*;
import io.rml.framework.engine.windows.DynamicWindowImpl;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.*;
import org.apache.flink.api.common.time.Time;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.NullByteKeySelector;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.*;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.*;
import org.apache.flink.streaming.api.operators.co.KeyedCoProcessOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.apache.jena.graph.BlankNodeId;
import scala.Option;
import scala.collection.Iterable;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Nil$;

public class RmlStreamerHarness {
    static final Pattern RECORD = Pattern.compile("<urn:record:([^>]*)> <urn:key> \"([^\"]*)\" \\.\\s*");
    static final ObjectMapper JSON = new ObjectMapper();
    // What is in its code and in no parameter. Whether its state is cleared is not here: it sets out to keep it.
    static final Map<String, String> OF_WINDOW = Map.of("slide", "none", "opens", "first-record", "closure", "[]", "emits", "arrival", "late", "join");
    static final Map<String, String> OF_ADAPTATION = Map.of("growth", "11/10", "shrink", "1/2", "lower_included", "false", "clamped", "true", "update_rule", "cost-plus-half", "updates_at", "outside-thresholds");
    final Map<String, KeyedTwoInputStreamOperatorTestHarness<Byte, Iterable<Item>, Iterable<Item>, Iterable<JoinedItem>>> operators = new TreeMap<>(); // by key
    JsonNode window; // of the case
    long watermark = Long.MIN_VALUE;

    ObjectNode reply(String command, JsonNode asked) throws Exception {
        ObjectNode reply = JSON.createObjectNode();
        if (command.equals("start")) return reply.put("protocol", 1).put("engine", "RMLStreamer").put("version", "1f4dbad");
        if (command.equals("register")) register(window = JSON.readTree(asked.get("query").asText()));
        if (command.equals("push")) push(asked);
        if (command.equals("advance")) advance(asked.get("at").asLong() - 1); // at itself may still come
        if (command.equals("end")) advance(Long.MAX_VALUE);
        return reply.set("relations", command.equals("register") ? JSON.createArrayNode() : matches());
    }

    void register(JsonNode window) {
        refuse(window, OF_WINDOW);
        if (!window.get("adaptation").isObject()) throw new UnsupportedOperationException("its window has an adaptation");
        refuse(window.get("adaptation"), OF_ADAPTATION);
    }

    void advance(long at) throws Exception {
        watermark = Math.max(watermark, at);
        for (var operator : operators.values()) operator.processBothWatermarks(new Watermark(at));
    }

    /** Return the operator of a key, a new one for a new key. */
    KeyedTwoInputStreamOperatorTestHarness<Byte, Iterable<Item>, Iterable<Item>, Iterable<JoinedItem>> operator(String key) throws Exception {
        if (operators.containsKey(key)) return operators.get(key);
        JsonNode adaptation = window.get("adaptation");
        @SuppressWarnings({"unchecked", "rawtypes"}) var operator = new KeyedTwoInputStreamOperatorTestHarness<Byte, Iterable<Item>, Iterable<Item>, Iterable<JoinedItem>>(
            new KeyedCoProcessOperator(new DynamicWindowImpl<Iterable<Item>, Iterable<Item>>(
                fraction(adaptation.get("upper")), fraction(adaptation.get("lower")), adaptation.get("expected_records").asLong(),
                adaptation.get("most").asLong(), adaptation.get("least").asLong(), Time.milliseconds(window.get("duration").asLong()))),
            new NullByteKeySelector<>(), new NullByteKeySelector<>(), Types.BYTE);
        operator.open();
        operators.put(key, operator);
        if (watermark > Long.MIN_VALUE) operator.processBothWatermarks(new Watermark(watermark));
        return operator;
    }

    /** Refuse a window that its code cannot have. */
    static void refuse(JsonNode table, Map<String, String> only) {
        for (String field : new TreeSet<>(only.keySet()))
            if (!table.get(field).asText().equals(only.get(field))) throw new UnsupportedOperationException("its " + field + " is " + only.get(field) + ", and no parameter changes that");
    }

    void push(JsonNode asked) throws Exception {
        Matcher record = RECORD.matcher(asked.get("graph").asText());
        if (!record.matches()) throw new IllegalArgumentException("no record of a join: " + asked.get("graph"));
        Iterable<Item> items = Nil$.MODULE$.$colon$colon((Item) new Record(record.group(1)));
        long at = asked.get("at").asLong();
        if (asked.get("stream").asText().equals("left")) operator(record.group(2)).processElement1(new StreamRecord<>(items, at));
        else operator(record.group(2)).processElement2(new StreamRecord<>(items, at));
    }

    /** Return the matches since the last reply, each as a relation of one row. */
    ArrayNode matches() {
        ArrayNode relations = JSON.createArrayNode();
        for (var operator : operators.values()) for (Object output; (output = operator.getOutput().poll()) != null;)
            if (output instanceof StreamRecord) { // and no watermark
                @SuppressWarnings("unchecked") Iterable<JoinedItem> joined = ((StreamRecord<Iterable<JoinedItem>>) output).getValue();
                ArrayNode rows = relations.addObject().putArray("rows");
                for (scala.collection.Iterator<JoinedItem> each = joined.iterator(); each.hasNext();) {
                    JoinedItem item = each.next();
                    ObjectNode row = rows.addObject();
                    row.putObject("left").put("type", "literal").put("value", ((Record) item.child()).name);
                    row.putObject("right").put("type", "literal").put("value", ((Record) item.parent()).name);
                }
            }
        return relations;
    }

    static double fraction(JsonNode value) {
        String[] parts = value.asText().split("/");
        return Double.parseDouble(parts[0]) / (parts.length > 1 ? Double.parseDouble(parts[1]) : 1);
    }

    /** A record as RMLStreamer's operators see it. */
    static class Record implements Item {
        final String name;
        Record(String name) { this.name = name; }
        public Option<scala.collection.immutable.List<String>> refer(String reference) { return Option.empty(); }
        public String tag() { return ""; }
        public scala.collection.immutable.Map<String, String> getDataTypes() { return Map$.MODULE$.empty(); }
        public BlankNodeId blankNodeId() { return null; }
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the engine prints
        RmlStreamerHarness harness = new RmlStreamerHarness();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line, command = ""; !command.equals("stop") && (line = lines.readLine()) != null;) {
            JsonNode asked = JSON.readTree(line);
            command = asked.get("command").asText();
            if (command.equals("register")) harness = new RmlStreamerHarness();
            ObjectNode reply = JSON.createObjectNode();
            reply.set("seq", asked.get("seq"));
            try {
                ObjectNode result = command.equals("stop") ? JSON.createObjectNode() : harness.reply(command, asked);
                reply.put("reply", "result").setAll(result);
            } catch (UnsupportedOperationException refused) {
                reply.put("reply", "unsupported").put("reason", refused.getMessage());
            } catch (Exception | Error broken) {
                reply.put("reply", "error").put("context", "" + broken);
            }
            out.println(JSON.writeValueAsString(reply));
        }
        System.exit(0);
    }
}
