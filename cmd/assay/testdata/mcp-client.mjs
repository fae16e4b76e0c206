// A client of another implementation, for the tests: it lists the tools of an MCP
// server, makes the calls it is told, and prints what came back as JSON.
//
//	node mcp-client.mjs SDK-FOLDER http URL TOKEN CALLS
//	node mcp-client.mjs SDK-FOLDER stdio CALLS COMMAND...
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [sdk, kind, ...rest] = process.argv.slice(2);
const require = createRequire(sdk + "/index.js");
const load = (name) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/client/" + name)));
const { Client } = await load("index.js");

let transport, calls;
if (kind === "http") {
	const { StreamableHTTPClientTransport } = await load("streamableHttp.js");
	const [url, token, list] = rest;
	transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: "Bearer " + token } } });
	calls = JSON.parse(list);
} else {
	const { StdioClientTransport } = await load("stdio.js");
	const [list, command, ...args] = rest;
	transport = new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
	calls = JSON.parse(list);
}

const client = new Client({ name: "assay-test", version: "1" });
await client.connect(transport);
const server = client.getServerVersion();
const { tools } = await client.listTools();
const results = [];
for (const call of calls) results.push(await client.callTool(call));
await client.close();
process.stdout.write(JSON.stringify({ server, tools, results }) + "\n");
