/* Load generator: GET_ROUTEINFO_BY_TOPIC for random topics over many connections, in one thread.
 *
 *   load HOST PORT --topics FILE [--connections 50] [--depth 16] [--seconds 10] [--warmup 0]
 *        [--rate R] [--binary]
 *
 * Without --rate it is a closed loop: every connection keeps `depth` requests in flight. With --rate
 * it sends R requests a second on a fixed schedule and counts latency from the scheduled moment, so
 * that a stall of the server hurts every request that should have been sent meanwhile.
 *
 * Request headers are what a stock Java 5.3.3 client sends. Every answer is checked: frame length,
 * header serialization, an opaque that is in flight, code 0. Prints one JSON line, after SIGTERM
 * earlier than planned, and "started" to standard error; exits 1 after any error.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "histogram.h"

enum { IN_SIZE = 1 << 18, MAX_FRAME = 1 << 17, MAX_REQUEST = 512, MAX_TOPIC = 255 };

typedef struct { int32_t opaque; int busy; uint64_t since; } Slot;
typedef struct {
    int fd, in_flight, hint, blocked;
    int32_t opaque;
    uint32_t in_used, out_used;
    Slot *slots;
    uint8_t *in, *out;
} Conn;
typedef struct { uint32_t head_len; char head[MAX_REQUEST - 128]; } Topic;

static int connections = 50, depth = 16, binary, open_count;
static volatile sig_atomic_t stopped;
static double seconds = 10, warmup, rate;
static Topic *topics;
static uint32_t topic_count;
static Conn *conns;
static int epoll_fd;
static const char JSON_TAIL[] = ",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":479}";

/* --- figures ------------------------------------------------------------------------------ */

static Histogram latency;
static uint64_t body_bytes, bad_frame, bad_opaque, bad_code, closed;

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

static void die(const char *what) {
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* --- requests ----------------------------------------------------------------------------- */

static uint8_t *put32(uint8_t *p, uint32_t v) {
    v = htonl(v);
    memcpy(p, &v, 4);
    return p + 4;
}

static void make_topic(Topic *t, const char *name) {
    uint32_t n = (uint32_t)strlen(name);
    if (!binary) {
        t->head_len = (uint32_t)sprintf(t->head,
            "{\"code\":105,\"extFields\":{\"topic\":\"%s\"},\"flag\":0,\"language\":\"JAVA\",\"opaque\":", name);
        return;
    }
    /* code, language, version, opaque, flag, no remark, fields: one key and its value */
    static const uint8_t fixed[17] = {0, 105, 0, 479 >> 8, 479 & 255};
    uint8_t *p = (uint8_t *)t->head;
    memcpy(p, fixed, 17);
    p = put32(p + 17, 2 + 5 + 4 + n);
    memcpy(p, "\0\5topic", 7);
    p = put32(p + 7, n);
    memcpy(p, name, n);
    t->head_len = (uint32_t)((char *)p + n - t->head);
}

static void read_topics(const char *path) {
    FILE *f = fopen(path, "r");
    char line[MAX_TOPIC + 2];
    if (!f) die(path);
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\r\n")] = 0;
        if (!*line) continue;
        topics = realloc(topics, (topic_count + 1) * sizeof *topics);
        if (!topics) die("memory");
        make_topic(&topics[topic_count++], line);
    }
    fclose(f);
    if (!topic_count) { fprintf(stderr, "load: no topics in %s\n", path); exit(2); }
}

static uint32_t random_topic(void) {
    static uint64_t x = 88172645463325252u;
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    return (uint32_t)(((x >> 32) * topic_count) >> 32);
}

static uint32_t put_decimal(uint8_t *p, int32_t v) {
    uint8_t digits[10];
    uint32_t n = 0;
    do digits[n++] = (uint8_t)('0' + v % 10); while (v /= 10);
    for (uint32_t i = 0; i < n; i++) p[i] = digits[n - 1 - i];
    return n;
}

static void add_request(Conn *c, Slot *s, uint64_t since) {
    Topic *t = &topics[random_topic()];
    uint8_t *start = c->out + c->out_used, *p = start + 8;
    s->opaque = c->opaque++;
    s->since = since;
    s->busy = 1;
    c->in_flight++;
    memcpy(p, t->head, t->head_len);
    if (binary) {
        put32(p + 5, (uint32_t)s->opaque);
        p += t->head_len;
    } else {
        p += t->head_len;
        p += put_decimal(p, s->opaque);
        memcpy(p, JSON_TAIL, sizeof JSON_TAIL - 1);
        p += sizeof JSON_TAIL - 1;
    }
    uint32_t header = (uint32_t)(p - start) - 8;
    put32(start, header + 4);
    put32(start + 4, header | (binary ? 1u << 24 : 0));
    c->out_used += header + 8;
}

/* --- answers ------------------------------------------------------------------------------ */

/* The integer after `key`: looked for first where the previous answer had it. */
static int json_int(const uint8_t *h, uint32_t n, const char *key, uint32_t key_len, uint32_t *at, int32_t *v) {
    if (*at + key_len > n || memcmp(h + *at, key, key_len)) {
        const uint8_t *hit = memmem(h, n, key, key_len);
        if (!hit) return 0;
        *at = (uint32_t)(hit - h);
    }
    uint32_t i = *at + key_len, first = i;
    int64_t sum = 0;
    for (; i < n && h[i] >= '0' && h[i] <= '9' && i - first < 10; i++) sum = sum * 10 + (h[i] - '0');
    *v = (int32_t)sum;
    return i > first;
}

static int parse_header(const uint8_t *h, uint32_t n, int32_t *code, int32_t *opaque) {
    static uint32_t code_at, opaque_at;
    if (!binary)
        return json_int(h, n, "\"code\":", 7, &code_at, code)
            && json_int(h, n, "\"opaque\":", 9, &opaque_at, opaque);
    if (n < 21) return 0;
    *code = h[0] << 8 | h[1];
    *opaque = (int32_t)((uint32_t)h[5] << 24 | (uint32_t)h[6] << 16 | (uint32_t)h[7] << 8 | h[8]);
    return 1;
}

/* Takes one answer from the frame; the slot it frees, or NULL when the answer was wrong. */
static Slot *take_answer(Conn *c, const uint8_t *frame, uint32_t length, uint64_t now) {
    uint32_t word;
    int32_t code, opaque;
    memcpy(&word, frame, 4);
    word = ntohl(word);
    uint32_t header = word & 0xffffff;
    if (word >> 24 != (uint32_t)binary || header + 4 > length || !parse_header(frame + 4, header, &code, &opaque)) {
        bad_frame++;
        return NULL;
    }
    for (int i = 0, k = c->hint; i < depth; i++, k = k + 1 == depth ? 0 : k + 1) {
        Slot *s = &c->slots[k];
        if (!s->busy || s->opaque != opaque) continue;
        c->hint = k + 1 == depth ? 0 : k + 1;
        s->busy = 0;
        c->in_flight--;
        if (code) bad_code++;
        body_bytes += length - 4 - header;
        record(&latency, now - s->since);
        return s;
    }
    bad_opaque++;
    return NULL;
}

/* --- connections -------------------------------------------------------------------------- */

static void drop(Conn *c) {
    closed++;
    open_count--;
    close(c->fd);
    c->fd = -1;
}

static void watch(Conn *c, int op, uint32_t events) {
    struct epoll_event ev = {.events = events, .data.ptr = c};
    if (epoll_ctl(epoll_fd, op, c->fd, &ev)) die("epoll_ctl");
}

static void flush(Conn *c) {
    if (!c->out_used) return;
    ssize_t n = send(c->fd, c->out, c->out_used, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) { drop(c); return; }
    if (n > 0) c->out_used -= (uint32_t)n;
    int blocked = c->out_used > 0;
    if (blocked && n > 0) memmove(c->out, c->out + n, c->out_used);
    if (blocked != c->blocked) watch(c, EPOLL_CTL_MOD, EPOLLIN | (blocked ? EPOLLOUT : 0));
    c->blocked = blocked;
}

static void on_readable(Conn *c) {
    ssize_t n = recv(c->fd, c->in + c->in_used, IN_SIZE - c->in_used, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) { drop(c); return; }
    c->in_used += (uint32_t)n;
    uint64_t now = now_ns();
    uint32_t at = 0;
    while (c->in_used - at >= 8) {
        uint32_t length;
        memcpy(&length, c->in + at, 4);
        length = ntohl(length);
        if (length < 4 || length > MAX_FRAME) { bad_frame++; drop(c); return; }
        if (c->in_used - at - 4 < length) break;
        Slot *s = take_answer(c, c->in + at + 4, length, now);
        at += 4 + length;
        if (s && rate == 0) add_request(c, s, now);
    }
    c->in_used -= at;
    memmove(c->in, c->in + at, c->in_used);
    flush(c);
}

static void open_connection(Conn *c, struct addrinfo *to) {
    int on = 1;
    c->fd = socket(to->ai_family, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, to->ai_addr, to->ai_addrlen)) die("connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->slots = calloc((size_t)depth, sizeof *c->slots);
    c->in = malloc(IN_SIZE);
    c->out = malloc((size_t)depth * 2 * MAX_REQUEST);
    if (!c->slots || !c->in || !c->out) die("memory");
    watch(c, EPOLL_CTL_ADD, EPOLLIN);
    open_count++;
}

static void open_all(const char *host, const char *port) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *to;
    int failed = getaddrinfo(host, port, &hints, &to);
    if (failed) { fprintf(stderr, "load: %s: %s\n", host, gai_strerror(failed)); exit(2); }
    conns = calloc((size_t)connections, sizeof *conns);
    if (!conns) die("memory");
    for (int i = 0; i < connections; i++) open_connection(&conns[i], to);
    freeaddrinfo(to);
}

/* --- the run ------------------------------------------------------------------------------ */

static Slot *free_slot(Conn *c) {
    for (int k = 0; k < depth; k++)
        if (!c->slots[k].busy) return &c->slots[k];
    return NULL;
}

/* Sends what the schedule has due, round robin; what finds no free slot stays due. */
static void send_due(uint64_t *due, uint64_t interval) {
    static int turn;
    uint64_t now = now_ns();
    for (int tried = 0; *due <= now && tried < connections; turn = (turn + 1) % connections) {
        Conn *c = &conns[turn];
        if (c->fd < 0 || c->in_flight == depth) { tried++; continue; }
        add_request(c, free_slot(c), *due);
        flush(c);
        *due += interval;
        tried = 0;
    }
}

static int start_timer(uint64_t interval) {
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct timespec every = {(time_t)(interval / 1000000000u), (long)(interval % 1000000000u)};
    struct itimerspec spec = {every, every};
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};
    if (fd < 0 || timerfd_settime(fd, 0, &spec, NULL) || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev)) die("timer");
    return fd;
}

static void run_until(uint64_t end, int timer, uint64_t *due, uint64_t interval) {
    struct epoll_event events[256];
    uint64_t ticks;
    while (open_count && !stopped && now_ns() < end) {
        int n = epoll_wait(epoll_fd, events, 256, 50);
        if (n < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < n; i++) {
            Conn *c = events[i].data.ptr;
            if (!c) {
                if (read(timer, &ticks, sizeof ticks) > 0) send_due(due, interval);
                continue;
            }
            if (events[i].events & EPOLLOUT) flush(c);
            if (c->fd >= 0 && events[i].events & ~(uint32_t)EPOLLOUT) on_readable(c);
        }
    }
}

static void on_signal(int number) { stopped = number; }

static void usage(void) {
    fputs("usage: load HOST PORT --topics FILE [--connections N] [--depth N] [--seconds S] [--warmup S]"
          " [--rate R] [--binary]\n", stderr);
    exit(2);
}

static const char *parse(int argc, char **argv) {
    static const struct option options[] = {
        {"connections", 1, 0, 'c'}, {"depth", 1, 0, 'd'}, {"seconds", 1, 0, 's'}, {"warmup", 1, 0, 'w'},
        {"topics", 1, 0, 't'}, {"rate", 1, 0, 'r'}, {"binary", 0, 0, 'b'}, {0}};
    const char *path = NULL;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 'c') connections = atoi(optarg);
        else if (o == 'd') depth = atoi(optarg);
        else if (o == 's') seconds = atof(optarg);
        else if (o == 'w') warmup = atof(optarg);
        else if (o == 'r') rate = atof(optarg);
        else if (o == 't') path = optarg;
        else if (o == 'b') binary = 1;
        else usage();
    }
    if (argc - optind != 2 || !path || connections < 1 || depth < 1 || seconds <= 0 || rate < 0) usage();
    return path;
}

int main(int argc, char **argv) {
    const char *path = parse(argc, argv);
    read_topics(path);
    signal(SIGTERM, on_signal);
    if ((epoll_fd = epoll_create1(0)) < 0) die("epoll_create1");
    open_all(argv[optind], argv[optind + 1]);

    uint64_t start = now_ns(), due = start, interval = rate > 0 ? (uint64_t)(1e9 / rate) : 0;
    int timer = rate > 0 ? start_timer(interval) : -1;
    for (int i = 0; i < connections && rate == 0; i++) {
        for (int k = 0; k < depth; k++) add_request(&conns[i], &conns[i].slots[k], now_ns());
        flush(&conns[i]);
    }
    fputs("started\n", stderr);
    if (warmup > 0) {
        run_until(start + (uint64_t)(warmup * 1e9), timer, &due, interval);
        memset(&latency, 0, sizeof latency);
        body_bytes = 0;
    }
    uint64_t from = now_ns(), cpu_from = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    run_until(from + (uint64_t)(seconds * 1e9), timer, &due, interval);
    double elapsed = (double)(now_ns() - from) / 1e9;
    double cpu = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_from) / 1e9;

    uint64_t errors = bad_frame + bad_opaque + bad_code + closed;
    double n = latency.count ? (double)latency.count : 1;
    printf("{\"requests\":%lu,\"seconds\":%.3f,\"rps\":%.1f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f,"
           "\"mean_us\":%.1f,\"body_bytes\":%.1f,\"cpu_share\":%.3f,\"errors\":%lu,\"bad_frame\":%lu,"
           "\"bad_opaque\":%lu,\"bad_code\":%lu,\"closed\":%lu}\n",
           latency.count, elapsed, (double)latency.count / elapsed, percentile_us(&latency, 0.5),
           percentile_us(&latency, 0.99), (double)latency.max / 1000, (double)latency.sum / n / 1000,
           (double)body_bytes / n, cpu / elapsed, errors, bad_frame, bad_opaque, bad_code, closed);
    return errors ? 1 : 0;
}
