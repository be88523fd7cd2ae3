import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.hook.SendMessageContext;
import org.apache.rocketmq.client.hook.SendMessageHook;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

/**
 * A stock producer and a stock consumer that exchange numbered messages until standard input
 * ends; then one line of counts. Arguments: name servers, topic, milliseconds between route
 * polls. `ready` is printed after the first message was received; every line of input is
 * answered with the brokers that took the latest messages.
 */
public final class Stream {
    private static final int PAUSE_MS = 10;
    private static final int LAST_SECONDS = 30;
    private static final int LATELY = 20;

    private static int sent;
    private static int errors;
    private static int attempts;
    private static long longestGapMs;
    private static final Queue<String> lately = new ConcurrentLinkedQueue<>();

    public static void main(String[] args) throws Exception {
        Set<Integer> received = ConcurrentHashMap.newKeySet();
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("stream-consumer");
        consumer.setNamesrvAddr(args[0]);
        consumer.setPollNameServerInterval(Integer.parseInt(args[2]));
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(args[1], "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(m -> received.add(Integer.valueOf(new String(m.getBody(), StandardCharsets.UTF_8))));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();

        AtomicBoolean going = new AtomicBoolean(true);
        Thread producing = new Thread(() -> produce(args, going));
        producing.start();
        while (received.isEmpty()) {
            Thread.sleep(PAUSE_MS);
        }
        System.out.println("ready");
        System.out.flush();

        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (input.readLine() != null) {
            System.out.println(String.join(",", new TreeSet<>(lately)));
            System.out.flush();
        }
        going.set(false);
        producing.join();
        long deadline = System.currentTimeMillis() + LAST_SECONDS * 1000L;
        while (received.size() < sent && System.currentTimeMillis() < deadline) {
            Thread.sleep(PAUSE_MS);
        }
        System.out.printf("sent %d errors %d retries %d received %d longestGapMs %d%n",
            sent, errors, attempts - sent - errors, received.size(), longestGapMs);
        System.out.flush();
        System.exit(0);
    }

    private static void produce(String[] args, AtomicBoolean going) {
        DefaultMQProducer producer = new DefaultMQProducer("stream-producer");
        producer.setNamesrvAddr(args[0]);
        producer.setPollNameServerInterval(Integer.parseInt(args[2]));
        producer.setSendMsgTimeout(10_000);
        producer.setRetryTimesWhenSendFailed(3);
        producer.setRetryAnotherBrokerWhenNotStoreOK(true);
        try {
            producer.start();
            producer.getDefaultMQProducerImpl().registerSendMessageHook(new SendMessageHook() {
                public String hookName() {
                    return "count";
                }

                public void sendMessageBefore(SendMessageContext context) {
                    attempts++;
                }

                public void sendMessageAfter(SendMessageContext context) { }
            });
            long last = 0;
            while (going.get()) {
                byte[] body = String.valueOf(sent).getBytes(StandardCharsets.UTF_8);
                try {
                    SendResult result = producer.send(new Message(args[1], body));
                    if (result.getSendStatus() == SendStatus.SEND_OK) {
                        sent++;
                        lately.add(result.getMessageQueue().getBrokerName());
                        if (lately.size() > LATELY) {
                            lately.poll();
                        }
                        long now = System.currentTimeMillis();
                        longestGapMs = last == 0 ? 0 : Math.max(longestGapMs, now - last);
                        last = now;
                    } else {
                        errors++;
                    }
                } catch (Exception e) {
                    errors += sent > 0 ? 1 : 0;
                    e.printStackTrace();
                }
                Thread.sleep(PAUSE_MS);
            }
        } catch (Exception e) {
            e.printStackTrace();
        } finally {
            producer.shutdown();
        }
    }

    private Stream() { }
}
