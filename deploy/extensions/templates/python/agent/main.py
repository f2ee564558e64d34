import svc_extension
from height import height_of


def main():
    node = svc_extension.connect()

    def on_telemetry(telemetry):
        height = height_of(telemetry)
        if height is not None:  # not known is not zero
            node.publish_state("height", {"metres": height})

    node.telemetry(on_telemetry, rate_hz=1, fields=["position"])
    print("%s %s runs on a %s" % (node.id, node.version, node.profile), flush=True)
    node.run()


if __name__ == "__main__":
    main()
