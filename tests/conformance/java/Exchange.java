import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

/** A stock producer and a stock consumer: what the one sends, the other prints, sorted. */
final class Exchange {
    private static final int TIMEOUT_SECONDS = 30;

    static void run(String namesrv, String topic, int count) throws Exception {
        send(namesrv, topic, count);
        for (String body : receive(namesrv, topic, count)) {
            System.out.println(body);
        }
    }

    private static void send(String namesrv, String topic, int count) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("producer-" + topic);
        producer.setNamesrvAddr(namesrv);
        producer.setInstanceName("producer-" + topic);
        producer.setSendMsgTimeout(TIMEOUT_SECONDS * 1000);
        producer.start();
        try {
            for (int i = 0; i < count; i++) {
                byte[] body = String.format("message %03d", i).getBytes(StandardCharsets.UTF_8);
                if (producer.send(new Message(topic, body)).getSendStatus() != SendStatus.SEND_OK) {
                    System.out.println("not stored: " + i);
                }
            }
        } finally {
            producer.shutdown();
        }
    }

    private static Set<String> receive(String namesrv, String topic, int count) throws Exception {
        Set<String> bodies = new ConcurrentSkipListSet<>();
        CountDownLatch missing = new CountDownLatch(count);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("consumer-" + topic);
        consumer.setNamesrvAddr(namesrv);
        consumer.setInstanceName("consumer-" + topic);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(message -> {
                if (bodies.add(new String(message.getBody(), StandardCharsets.UTF_8))) {
                    missing.countDown();
                }
            });
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        try {
            missing.await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } finally {
            consumer.shutdown();
        }
        return bodies;
    }

    private Exchange() { }
}
