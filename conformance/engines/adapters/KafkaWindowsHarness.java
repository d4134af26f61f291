// The windows of Kafka Streams, by the lines of WindowLines.java: `java KafkaWindowsHarness GRACE suppressed|close|update`.
//
// A query is a topology: the elements of a key are collected in time windows or sessions, and given when these close, by
// `suppress` or by the emit strategy, or at each update. It runs in the TopologyTestDriver, where time is that of the elements.
// So `end` has no effect.

import java.time.Duration;
import java.util.*;
import org.apache.kafka.common.serialization.*;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;

class KafkaWindowsHarness extends WindowLines {
    static final long MOST_WINDOWS = 10_000; // that an element may be in

    final Duration grace;
    final String mode;
    final Map<Windowed<Integer>, String> given = new HashMap<>(); // the numbers of the last report of each window
    TopologyTestDriver driver;
    TestInputTopic<Integer, String> elements;

    KafkaWindowsHarness(long grace, String mode) {
        this.grace = Duration.ofMillis(grace);
        this.mode = mode;
    }

    void query(String kind, long size, long slide) {
        StreamsBuilder builder = new StreamsBuilder();
        KTable<Windowed<Integer>, String> windows = windows(builder.stream("elements", Consumed.with(Serdes.Integer(), Serdes.String())).groupByKey(), kind, size, slide);
        if (mode.equals("suppressed")) windows = windows.suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded().withLoggingDisabled()));
        windows.toStream().foreach(this::give);
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "windows");
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.IntegerSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);
        settings.put(StreamsConfig.InternalConfig.EMIT_INTERVAL_MS_KSTREAMS_WINDOWED_AGGREGATION, 0L); // closed windows are looked for at each element
        driver = new TopologyTestDriver(builder.build(), settings);
        elements = driver.createInputTopic("elements", new IntegerSerializer(), new StringSerializer());
    }

    KTable<Windowed<Integer>, String> windows(KGroupedStream<Integer, String> stream, String kind, long size, long slide) {
        EmitStrategy emit = mode.equals("close") ? EmitStrategy.onWindowClose() : EmitStrategy.onWindowUpdate();
        Aggregator<Integer, String, String> add = (key, number, numbers) -> numbers + number + " ";
        if (kind.equals("session")) {
            SessionWindows windows = SessionWindows.ofInactivityGapAndGrace(Duration.ofMillis(size), grace);
            return stream.windowedBy(windows).emitStrategy(emit).aggregate(() -> "", add, (key, some, others) -> some + others);
        }
        TimeWindows windows = TimeWindows.ofSizeAndGrace(Duration.ofMillis(size), grace).advanceBy(Duration.ofMillis(slide));
        if (size / slide > MOST_WINDOWS) throw new IllegalArgumentException("each element would be in " + size / slide + " windows, each with a record of its own");
        return stream.windowedBy(windows).emitStrategy(emit).aggregate(() -> "", add);
    }

    void give(Windowed<Integer> window, String numbers) {
        String borders = window.window().start() + " " + window.window().end() + " ";
        if (numbers == null) takeBack(borders + given.remove(window));
        else report(borders + numbers);
        if (numbers != null) given.put(window, numbers);
    }

    void element(long at, int number, int key) {
        elements.pipeInput(key, "" + number, at);
    }

    void end(long at) {}

    void close() {
        if (driver != null) driver.close();
        driver = null;
        given.clear();
    }

    public static void main(String[] arguments) throws Exception {
        new KafkaWindowsHarness(Long.parseLong(arguments[0]), arguments[1]).serve();
    }
}
