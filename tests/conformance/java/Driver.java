import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * RocketMQ's own client tools in one JVM that stays. A request is one line of tab-separated
 * words: `mqadmin` and its arguments, or `exchange` with name server, topic and count. The
 * answer is a line with the number of bytes that were printed, then those bytes.
 */
public final class Driver {
    public static void main(String[] args) throws Exception {
        Thread hurry = new Thread(Driver::hurry);
        hurry.setDaemon(true);
        hurry.start();
        PrintStream answers = System.out;
        PrintStream errors = System.err;
        BufferedReader requests =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = requests.readLine()) != null; ) {
            ByteArrayOutputStream printed = new ByteArrayOutputStream();
            try (PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
                System.setOut(out);
                System.setErr(out);
                run(line.split("\t", -1));
            } finally {
                System.setOut(answers);
                System.setErr(errors);
            }
            answers.println(printed.size());
            answers.write(printed.toByteArray());
            answers.flush();
        }
        System.exit(0);
    }

    /** A client's shutdown often waits three seconds for a poll of an empty queue: cut that short. */
    private static void hurry() {
        try {
            for (; ; Thread.sleep(50)) {
                Thread[] threads = new Thread[2 * Thread.activeCount() + 16];
                for (int i = 0, count = Thread.enumerate(threads); i < count; i++) {
                    if (threads[i].getName().startsWith("NettyEventExecutor")) {
                        threads[i].interrupt();
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void run(String[] words) {
        String[] rest = Arrays.copyOfRange(words, 1, words.length);
        try {
            if (words[0].equals("mqadmin")) {
                MQAdminStartup.main0(rest, null);
            } else {
                Exchange.run(rest[0], rest[1], Integer.parseInt(rest[2]));
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
    }
}
