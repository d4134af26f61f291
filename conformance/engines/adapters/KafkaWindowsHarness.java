// The windows of Kafka Streams, for windows.py: `java -cp JARS KafkaWindowsHarness.java`.
//
// A line of input is `query SIZE SLIDE`, `element TIME NUMBER` or `end TIME`, with times in ms. The answer to each is a line
// `window OPEN CLOSE NUMBER...` for each window that Kafka Streams has reported since the line before, and then `done`,
// `refused REASON` or `failed REASON`.
//
// A query is a topology: the elements of one key are collected in hopping or tumbling windows without grace, and suppressed
// until their window closes. It runs in the TopologyTestDriver, where time is that of the elements. So `end` has no effect.

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.common.serialization.*;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;

public class KafkaWindowsHarness {
    static final long MOST_WINDOWS = 10_000; // that an element may be in
    static final String KEY = "key"; // of all elements

    final List<String> reports = new ArrayList<>();
    TopologyTestDriver driver;
    TestInputTopic<String, String> elements;

    void run(String[] words) {
        switch (words[0]) {
            case "query" -> query(Long.parseLong(words[1]), Long.parseLong(words[2]));
            case "element" -> elements.pipeInput(KEY, words[2], Long.parseLong(words[1]));
        }
    }

    void query(long size, long slide) {
        close();
        TimeWindows windows = TimeWindows.ofSizeWithNoGrace(Duration.ofMillis(size)).advanceBy(Duration.ofMillis(slide));
        if (size / slide > MOST_WINDOWS) throw new IllegalArgumentException("each element would be in " + size / slide + " windows, each with a record of its own");
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("elements", Consumed.with(Serdes.String(), Serdes.String()))
            .groupByKey()
            .windowedBy(windows)
            .reduce((numbers, number) -> numbers + " " + number)
            .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded().withLoggingDisabled()))
            .toStream()
            .foreach((key, numbers) -> reports.add("window " + key.window().start() + " " + key.window().end() + " " + numbers));
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "windows");
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);
        driver = new TopologyTestDriver(builder.build(), settings);
        elements = driver.createInputTopic("elements", new StringSerializer(), new StringSerializer());
    }

    void close() {
        if (driver != null) driver.close();
        driver = null;
        reports.clear();
    }

    public static void main(String[] arguments) throws IOException {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the engine prints
        KafkaWindowsHarness harness = new KafkaWindowsHarness();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null; out.flush()) {
            String answer = "done";
            try {
                harness.run(line.split(" "));
            } catch (IllegalArgumentException refused) {
                answer = "refused " + refused.getMessage();
            } catch (Exception | Error failed) {
                answer = "failed " + failed;
            }
            harness.reports.forEach(report -> out.print(report + "\n"));
            harness.reports.clear();
            out.print(answer.replace('\n', ' ') + "\n");
        }
        harness.close();
    }
}
