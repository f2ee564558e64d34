/*
 * The least that an extension in C has to do: connect, say hello, publish. A frame is 4 bytes of length, big-endian, and a
 * MessagePack map; answers are only counted here. For more, take a MessagePack library.
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MAX_FRAME 4096
#define PERIOD_MS 5000

static volatile sig_atomic_t stopping;
static uint8_t frame[4 + MAX_FRAME];
static size_t used;

static void on_term(int number) {
    (void)number;
    stopping = 1;
}

static void byte(uint8_t value) {
    if (used < sizeof frame) frame[used++] = value;
}

static void text(const char *value) {
    size_t length = strlen(value);
    byte(0xda); /* a text with a length of 16 bits */
    byte((uint8_t)(length >> 8));
    byte((uint8_t)length);
    for (size_t i = 0; i < length; i++) byte((uint8_t)value[i]);
}

/* {v: 1, t: "request", id, m: method, a: {<pairs>}} */
static void begin(uint8_t id, const char *method, uint8_t pairs) {
    used = 4;
    byte(0x85);
    text("v"), byte(1);
    text("t"), text("request");
    text("id"), byte(id & 0x7f);
    text("m"), text(method);
    text("a"), byte(0x80 | pairs);
}

static int finish(int fd) {
    uint32_t size = (uint32_t)(used - 4);
    for (int i = 0; i < 4; i++) frame[i] = (uint8_t)(size >> (24 - 8 * i));
    for (size_t sent = 0; sent < used;) {
        ssize_t n = send(fd, frame + sent, used - sent, MSG_NOSIGNAL);
        if (n <= 0) return -1;
        sent += (size_t)n;
    }
    return 0;
}

int main(void) {
    const char *id = getenv("SVC_PLUGIN_ID");
    const char *path = getenv("SVC_PLUGIN_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (id == NULL || path == NULL || strlen(path) >= sizeof address.sun_path) {
        fputs("SVC_PLUGIN_ID and SVC_PLUGIN_SOCKET are not set: run this with `svc plugin dev`, or on a node\n", stderr);
        return 2;
    }
    struct sigaction action = {.sa_handler = on_term};
    sigaction(SIGTERM, &action, NULL);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(address.sun_path, path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        perror(path);
        return 1;
    }
    begin(1, "hello", 2);
    text("plugin_id"), text(id);
    text("sdk"), text("none");
    if (finish(fd) != 0) return 1;

    char topic[256];
    snprintf(topic, sizeof topic, "plugin.%s.beat", id);
    for (uint8_t count = 0; !stopping; count++) {
        begin((uint8_t)(2 + count % 100), "event.publish", 2);
        text("topic"), text(topic);
        text("payload"), byte(count & 0x7f);
        if (finish(fd) != 0) return 1;
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        struct timespec start, now;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (long left = PERIOD_MS; left > 0 && !stopping;) {
            if (poll(&wait, 1, (int)left) > 0) {
                uint8_t answer[1024];
                if (read(fd, answer, sizeof answer) <= 0) return stopping ? 0 : 1; /* the node is gone */
            }
            clock_gettime(CLOCK_MONOTONIC, &now);
            left = PERIOD_MS - (now.tv_sec - start.tv_sec) * 1000 - (now.tv_nsec - start.tv_nsec) / 1000000;
        }
    }
    return 0;
}
