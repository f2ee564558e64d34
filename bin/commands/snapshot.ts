import { Args, Flags } from '@oclif/core';
import { fillAtomic } from '../../shared/files/atomic-write.ts';
import { NodeCommand } from '../cli/node-command.ts';

/** A picture has some hundred kilobytes; an answer that does not end must not fill the disk. */
const MAX_BYTES = 64 * 1024 * 1024;

class SnapshotCommand extends NodeCommand {
  static override summary = 'Write the picture that the camera sees now to a file.';
  static override examples = ['<%= config.bin %> snapshot', '<%= config.bin %> snapshot roof.jpg --boxes'];
  static override args = {
    file: Args.string({ description: 'a JPEG; without it, snapshot-<time>.jpg here' }),
  };
  static override flags = {
    camera: Flags.string({ summary: 'of `svc camera`; without it, the one that is shown' }),
    boxes: Flags.boolean({ summary: 'with what the detector sees drawn on it', default: false }),
  };

  async run(): Promise<{ readonly file: string; readonly bytes: number }> {
    const { args, flags } = await this.parse(SnapshotCommand);
    const file = args.file ?? `snapshot-${new Date().toISOString().replaceAll(/[-:]|\..*/g, '')}.jpg`;
    let bytes = 0;
    await fillAtomic(
      file,
      async (handle) => {
        for await (const chunk of this.stream('GET /api/video/snapshot', {
          query: { boxes: flags.boxes, camera: flags.camera },
        })) {
          bytes += chunk.length;
          if (bytes > MAX_BYTES) throw new Error(`The picture is longer than ${MAX_BYTES / 2 ** 20} MiB.`);
          await handle.writeFile(chunk);
        }
      },
      0o644,
    );
    this.log(`${file}: ${bytes} bytes`);
    return { file, bytes };
  }
}

export default { snapshot: SnapshotCommand };
