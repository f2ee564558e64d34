import { join } from 'node:path';
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { publicJwk, signStatement, thumbprint } from '../../shared/fleet/signed.ts';
import { topics } from '../../shared/fleet/topics.ts';
import { askAgain } from '../support/ask-again.ts';
import { callTool, HttpConnector, newClient, runConnector } from '../support/connector.ts';
import { type EnrolledNode, TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { HOSTED, RealProvider, useProvider } from '../support/oidc.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const missing = noMosquitto();
type Leave = () => Promise<unknown>;

/** A hosted AI client of one person, as the official library signs in. */
class Hosted implements OAuthClientProvider {
  readonly redirectUrl = HOSTED.redirect_uri;
  readonly clientMetadata = { redirect_uris: [HOSTED.redirect_uri], token_endpoint_auth_method: 'none' };
  asked: URL | null = null;
  #tokens: OAuthTokens | undefined;
  #verifier = '';

  get token(): string {
    return this.#tokens?.access_token ?? '';
  }
  clientInformation(): OAuthClientInformationMixed {
    return { client_id: HOSTED.client_id };
  }
  tokens(): OAuthTokens | undefined {
    return this.#tokens;
  }
  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
}

describe(`people of hosted AI clients${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(120_000);
  let home: string;
  let hub: TestHub;
  let provider: RealProvider;
  let connector: HttpConnector;
  let resource: string;
  const leave: Leave[] = [];

  before(async function () {
    if (missing !== null) return this.skip();
    home = await tempDir();
    hub = await TestHub.init();
    resource = `http://127.0.0.1:${await freePort()}/mcp`;
    const people = { ada: ['fleet-admins'], bob: ['north'], cleo: ['north'], eve: ['staff'] };
    provider = await RealProvider.start(people, [`https://localhost:${hub.httpsPort}/`]);
    const scopes = ['openid', 'profile', 'groups'];
    await useProvider(hub, provider.issuer, { scopes, resources: [resource] });
    await hub.serve();
    for (const id of ['north-1', 'south-1']) await play(await hub.enroll(id));
    connector = await HttpConnector.start({ args: flags(resource), home });
  });
  after(async () => {
    await connector?.[Symbol.asyncDispose]();
    for (const each of leave.toReversed()) await each();
    await hub?.stop();
    await provider?.stop();
    if (home !== undefined) await removeDir(home);
  });

  const flags = (url: string): readonly string[] => [
    '--target',
    'fleet',
    '--gcs',
    hub.url,
    '--transport',
    'http',
    '--http-port',
    new URL(url).port,
    '--resource',
    url,
    '--toolset',
    'all',
  ];

  /** Answers each call with its own name, as a node does. */
  async function play({ id, enrolled, signingKey, tlsKey }: EnrolledNode): Promise<void> {
    const client = await hub.connect({ id, enrolled, signingKey, tlsKey });
    leave.push(async () => client.endAsync(true));
    client.on('message', (topic, payload) => {
      const caller = topic.split('/').at(-1) ?? '';
      const part = payload.toString().split('.')[1] ?? '';
      const { jti } = JSON.parse(Buffer.from(part, 'base64url').toString()) as { readonly jti: string };
      const body = { name: id, version: '1', fc_connected: true, armed: false };
      void thumbprint(publicJwk(signingKey)).then(async (kid) =>
        client.publishAsync(
          topics.reply(enrolled.fleet, caller, id),
          await signStatement('svc-reply', { node: id, jti, status: 200, body }, signingKey, kid),
          { qos: 1 },
        ),
      );
    });
    await client.subscribeAsync([topics.personCalls(enrolled.fleet, id)], { qos: 1 });
  }

  /** The whole way: refused, discovery, the provider's page, PKCE, connected. */
  async function enter(who: string): Promise<{
    readonly client: Client;
    readonly hosted: Hosted;
    readonly transport: StreamableHTTPClientTransport;
  }> {
    const hosted = new Hosted();
    const at = new URL(resource);
    const first = new StreamableHTTPClientTransport(at, { authProvider: hosted });
    const refused = await newClient()
      .connect(first)
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(UnauthorizedError);
    expect(hosted.asked?.searchParams.get('resource')).to.equal(resource);
    await first.finishAuth(new URLSearchParams(await provider.signIn(hosted.asked ?? at, who)));
    const transport = new StreamableHTTPClientTransport(at, { authProvider: hosted });
    const client = newClient();
    await client.connect(transport);
    leave.push(async () => client.close());
    return { client, hosted, transport };
  }

  async function post(
    token: string | null,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(resource, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
  }

  const nodesOf = async (client: Client): Promise<string> =>
    JSON.stringify((await callTool(client, 'fleet_list_nodes')).value);

  it('sign in by the official library, and have the tools and nodes of their own', async () => {
    const [ada, bob] = [await enter('ada'), await enter('bob')];
    expect((await ada.client.listTools()).tools.map(({ name }) => name)).to.include('config_set');
    expect((await bob.client.listTools()).tools.map(({ name }) => name)).not.to.include('config_set');
    expect(await nodesOf(ada.client))
      .to.include('north-1')
      .and.include('south-1');
    expect(await nodesOf(bob.client))
      .to.include('north-1')
      .and.not.include('south-1');
    const own = await callTool(bob.client, 'status_get', { node: 'north-1' });
    expect(own.isError, JSON.stringify(own.value)).to.equal(false);
    expect((await callTool(bob.client, 'status_get', { node: 'south-1' })).isError).to.equal(true);
    // What was carried is in the hub's audit, by whom.
    const { body } = await hub.call('GET', '/v1/audit?limit=200');
    expect(JSON.stringify(body)).to.include('north-1 GET /api/status').and.include('Name of bob');
  });

  it('have sessions that nobody else can use', async () => {
    const [ada, bob] = [await enter('ada'), await enter('bob')];
    const session = { 'mcp-session-id': ada.transport.sessionId ?? '' };
    expect((await post(ada.hosted.token, session)).status).to.equal(200);
    expect((await post(bob.hosted.token, session)).status).to.equal(404);
  });

  it('are told where to sign in', async () => {
    const { origin } = new URL(resource);
    const place = `${origin}/.well-known/oauth-protected-resource`;
    for (const at of [place, `${place}/mcp`])
      expect(await (await fetch(at)).json()).to.deep.include({
        resource,
        authorization_servers: [provider.issuer],
        scopes_supported: ['openid', 'profile', 'groups'],
        bearer_methods_supported: ['header'],
      });
    for (const token of [null, 'opaque', 'a.b.c', hub.operator]) {
      const { status, headers } = await post(token);
      expect(status, String(token)).to.equal(401);
      expect(headers.get('www-authenticate')).to.include(`resource_metadata="${place}/mcp"`);
    }
    expect((await post(null, { origin: 'https://evil.example' })).status).to.equal(403);
  });

  it('are refused without a group here', async () => {
    await enter('eve').then(
      () => expect.fail('she came in'),
      (error: unknown) => expect(String(error)).to.match(/groups|Unauthorized|401/i),
    );
  });

  it('are out at once when their sign-in is ended, and the others are not', async () => {
    const [cleo, bob] = [await enter('cleo'), await enter('bob')];
    await nodesOf(cleo.client);
    const { body } = await hub.call('GET', '/v1/operators');
    const listed = body['operators'] as readonly { readonly id: string; readonly name: string }[];
    const mine = listed.filter(({ name }) => name === 'Name of cleo');
    expect(mine).to.have.length(1);
    for (const { id } of mine) await hub.call('DELETE', `/v1/operators/${id}`);
    const again = async (): Promise<Response> => post(cleo.hosted.token);
    await askAgain('she is out', again, ({ status }) => status === 401, 10_000);
    expect(await nodesOf(bob.client)).to.include('north-1');
  });

  it('are out when their group has gone from the hub', async () => {
    const bob = await enter('bob');
    await nodesOf(bob.client);
    await hub.kill('SIGTERM');
    const groups = [{ group: 'fleet-admins', scopes: ['read'], nodes: null }];
    await useProvider(hub, provider.issuer, { resources: [resource], groups });
    await hub.serve();
    const again = async (): Promise<Response> => post(bob.hosted.token);
    await askAgain('he is out', again, ({ status }) => status === 401, 30_000);
  });

  it('have no connector at a hub that does not name its address', async () => {
    for (const [args, words] of [
      [flags(`http://127.0.0.1:${await freePort()}/mcp`), /takes no tokens for/],
      [[...flags(resource), '--token', 'svc_mc_x'], /people sign in/],
      [[...flags(resource), '--resource', 'http://ai.example.org/mcp'], /https address/],
      [[...flags(resource), '--transport', 'stdio'], /--transport http/],
    ] as const) {
      const { code, stderr } = await runConnector({ args, home: join(home, 'other') });
      expect(code).to.equal(1);
      expect(stderr).to.match(words);
    }
  });
});
