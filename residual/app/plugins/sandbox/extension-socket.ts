import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Of Linux; Node has no name for it: the descriptor only stands for the file, which is not opened. */
const O_PATH = 0o10000000;

interface ExtensionSocket {
  /** To connect to. It stands for this very file, whatever the extension makes of its name meanwhile. */
  readonly path: string;
  /** To be called once it is connected, or has failed. */
  close(): Promise<void>;
}

/**
 * The socket that an extension has made, for example its `http.sock`. The folder is the extension's to write: by its plain name,
 * a link there would connect the node to a socket of its own, control.sock for one, in the extension's place.
 * @returns null if there is none, or something else
 */
export async function extensionSocket(path: string): Promise<ExtensionSocket | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, O_PATH | constants.O_NOFOLLOW);
  } catch {
    return null; // not there, or its folder is gone
  }
  if ((await handle.stat()).isSocket())
    return { path: `/proc/self/fd/${handle.fd}`, close: async () => handle.close() };
  await handle.close();
  return null;
}
