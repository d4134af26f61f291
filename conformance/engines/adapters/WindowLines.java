// What the harnesses of windows in Java share: the lines of conformance/harness/java_windows.py.
//
// A line of input is `query KIND SIZE SLIDE`, `element TIME NUMBER KEY` or `end TIME`, with times in ms and a number for each
// key. The answer to each are lines `window OPEN CLOSE NUMBER...`, for each window that the library has reported since the line
// before, or `content NUMBER...` where its borders are not stated, and `taken-back OPEN CLOSE NUMBER...`, for each report that it
// has taken back. Then `done`, `refused REASON` or `failed REASON` follows.

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

abstract class WindowLines {
    private final List<String> reports = new ArrayList<>();

    abstract void query(String kind, long size, long slide) throws Exception;

    abstract void element(long at, int number, int key) throws Exception;

    abstract void end(long at) throws Exception;

    abstract void close() throws Exception; // ends what the query before has begun

    void report(String window) { // OPEN CLOSE NUMBER...
        reports.add("window " + window);
    }

    void reportContent(String numbers) { // of a window whose borders are not stated
        reports.add("content " + numbers);
    }

    void takeBack(String window) {
        reports.add("taken-back " + window);
    }

    void run(String[] words) throws Exception {
        switch (words[0]) {
            case "query" -> {
                close();
                reports.clear();
                query(words[1], Long.parseLong(words[2]), Long.parseLong(words[3]));
            }
            case "element" -> element(Long.parseLong(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
            case "end" -> end(Long.parseLong(words[1]));
        }
    }

    void serve() throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the library prints
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null; out.flush()) {
            String answer = "done";
            try {
                run(line.split(" "));
            } catch (IllegalArgumentException refused) {
                answer = "refused " + refused.getMessage();
            } catch (ArithmeticException overflow) {
                answer = "refused its time has 64 bits: " + overflow.getMessage();
            } catch (Exception | Error failed) {
                answer = "failed " + failed;
            }
            reports.forEach(report -> out.print(report + "\n"));
            reports.clear();
            out.print(answer.replace('\n', ' ') + "\n");
        }
        close();
    }
}
