// Elastic's OTLP server on a free port. Each line of output is what one export contained.
const { MockOtlpServer } = require(process.argv[2]);

const print = (signal) => (data) =>
    console.log(JSON.stringify({ signal, data }, (_, value) => (typeof value === "bigint" ? String(value) : value)));
const server = new MockOtlpServer({
    logLevel: "error",
    services: ["http"],
    httpHostname: "127.0.0.1",
    httpPort: 0,
    onTrace: print("traces"),
    onMetrics: print("metrics"),
    onLogs: print("logs"),
});
server.start().then(() => console.log(JSON.stringify({ url: server.httpUrl })));
