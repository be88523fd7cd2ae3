/* The plain server: one thread, epoll, ready-made answers. It shows what the machine can do.
 *
 *   epoll_server PORT BODYFILE
 *
 * Answers every frame with code 0, the request's opaque and the bytes of BODYFILE; one write for
 * all requests of one read. It knows no routes. JSON and binary headers.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IN_SIZE = 1 << 16, MAX_BODY = 1 << 16 };
typedef struct { int fd; uint32_t in_used, out_at, out_used, out_size; uint8_t in[IN_SIZE], *out; } Conn;

static uint8_t body[MAX_BODY];
static uint32_t body_len;
static int epoll_fd;
static const char HEAD[] = "{\"code\":0,\"flag\":1,\"language\":\"JAVA\",\"opaque\":";
static const char TAIL[] = ",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":479}";

static void die(const char *what) { perror(what); exit(1); }

static uint32_t get32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return ntohl(v); }
static void put32(uint8_t *p, uint32_t v) { v = htonl(v); memcpy(p, &v, 4); }

static uint8_t *json_header(uint8_t *p, const uint8_t *in, uint32_t n) {
    static const char KEY[] = "\"opaque\":";
    const uint8_t *hit = memmem(in, n, KEY, sizeof KEY - 1), *end = in + n;
    memcpy(p, HEAD, sizeof HEAD - 1);
    p += sizeof HEAD - 1;
    for (hit = hit ? hit + sizeof KEY - 1 : end; hit < end && *hit >= '0' && *hit <= '9';) *p++ = *hit++;
    memcpy(p, TAIL, sizeof TAIL - 1);
    return p + sizeof TAIL - 1;
}

static uint8_t *binary_header(uint8_t *p, const uint8_t *in) {
    static const uint8_t HEADER[21] = {0, 0, 0, 479 >> 8, 479 & 255, 0, 0, 0, 0, 0, 0, 0, 1};
    memcpy(p, HEADER, sizeof HEADER);
    memcpy(p + 5, in + 5, 4);
    return p + sizeof HEADER;
}

static void answer(Conn *c, const uint8_t *in, uint32_t length) {
    uint32_t word = get32(in), binary = word >> 24, header = word & 0xffffff;
    if (c->out_size - c->out_used < body_len + 256) {
        c->out_size = c->out_size * 2 + body_len + 256;
        if (!(c->out = realloc(c->out, c->out_size))) die("memory");
    }
    uint8_t *start = c->out + c->out_used, *p = start + 8;
    p = binary ? binary_header(p, in + 4) : json_header(p, in + 4, header + 4 > length ? length - 4 : header);
    put32(start + 4, (uint32_t)(p - start - 8) | binary << 24);
    memcpy(p, body, body_len);
    p += body_len;
    put32(start, (uint32_t)(p - start) - 4);
    c->out_used += (uint32_t)(p - start);
}

static void watch(Conn *c, int op, uint32_t events) {
    struct epoll_event ev = {.events = events, .data.ptr = c};
    if (epoll_ctl(epoll_fd, op, c->fd, &ev)) die("epoll_ctl");
}

/* Sends what is waiting; 1 when all is gone. A peer that does not read is not read from either. */
static int flush(Conn *c, int waited) {
    ssize_t n = send(c->fd, c->out + c->out_at, c->out_used - c->out_at, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) n = c->out_used - c->out_at; /* the next read sees the error */
    if (n > 0) c->out_at += (uint32_t)n;
    int done = c->out_at == c->out_used;
    if (done) c->out_at = c->out_used = 0;
    if (done == waited) watch(c, EPOLL_CTL_MOD, done ? EPOLLIN : EPOLLOUT);
    return done;
}

static void on_readable(Conn *c) {
    ssize_t n = recv(c->fd, c->in + c->in_used, IN_SIZE - c->in_used, 0);
    if (n < 0 && errno == EAGAIN) return;
    uint32_t at = 0, length = 0;
    for (c->in_used += n > 0 ? (uint32_t)n : 0; n > 0 && c->in_used - at >= 8; at += 4 + length) {
        length = get32(c->in + at);
        if (length < 4 || length > IN_SIZE - 4) n = 0;
        else if (c->in_used - at - 4 < length) break;
        else answer(c, c->in + at + 4, length);
    }
    if (n <= 0) { close(c->fd); free(c->out); free(c); return; }
    c->in_used -= at;
    memmove(c->in, c->in + at, c->in_used);
    if (c->out_used) flush(c, 0);
}

int main(int argc, char **argv) {
    FILE *f = argc == 3 ? fopen(argv[2], "rb") : NULL;
    if (!f) { fputs("usage: epoll_server PORT BODYFILE\n", stderr); return 2; }
    body_len = (uint32_t)fread(body, 1, sizeof body, f);
    fclose(f);
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1024)) die("listen");
    epoll_fd = epoll_create1(0);
    struct epoll_event ev = {.events = EPOLLIN}, events[256];
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &ev)) die("epoll_ctl");
    for (;;) {
        int n = epoll_wait(epoll_fd, events, 256, -1);
        for (int i = 0; i < n; i++) {
            Conn *c = events[i].data.ptr;
            if (!c) {
                int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
                if (fd < 0) continue;
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                if (!(c = calloc(1, sizeof *c))) die("memory");
                c->fd = fd;
                watch(c, EPOLL_CTL_ADD, EPOLLIN);
            } else if (c->out_used) flush(c, 1);
            else on_readable(c);
        }
    }
}
