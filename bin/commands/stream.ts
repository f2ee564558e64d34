import { placeOfNode } from '../../shared/http/reach-node.ts';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { callNode, pathTo } from '../client/local-client.ts';

interface Stream {
  readonly state: Answer<'video.get'>['state'];
  /** Null where the node has no WebRTC, and for a drone behind its ground station: its media do not pass that. */
  readonly whep: string | null;
  readonly mp4: string;
}

class StreamCommand extends NodeCommand {
  static override summary = 'Show where the live picture is to be had.';
  static override description =
    'The page of the node plays it. Another player sends the pairing key, of a paired node, as the header X-SVC-Key.';
  static override examples = ['<%= config.bin %> stream', '<%= config.bin %> stream --json'];

  async run(): Promise<Stream> {
    await this.parse(StreamCommand);
    const video = await this.call('GET /api/video');
    const base = await this.#base();
    const urlOf = (path: string): string => `${base}${pathTo(this.address, path)}`;
    const behind = this.address.drone !== undefined;
    const whep = behind || video.whep_url == null ? null : urlOf(video.whep_url);
    const stream = { state: video.state, whep, mp4: urlOf('/api/video/live.mp4') };
    this.log(`video  ${video.state}${video.problem == null ? '' : `: ${video.problem}`}`);
    if (video.reduced != null) this.log(`       fewer or smaller frames for now: ${video.reduced}`);
    this.log(`WHEP   ${whep ?? 'none'}`);
    this.log(`MP4    ${stream.mp4}`);
    return stream;
  }

  /** By the address that was given; of the node on this machine, by its name in the network. */
  async #base(): Promise<string> {
    const { address } = this;
    if (!('socketPath' in address)) return placeOfNode(address).baseUrl;
    const here = { socketPath: address.socketPath };
    const [{ mdns_host: host }, { api }] = await Promise.all([
      callNode(here, 'GET /api/pairing/info'),
      callNode(here, 'GET /api/config'),
    ]);
    return `http://${host}:${api.port}`;
  }
}

export default { stream: StreamCommand };
