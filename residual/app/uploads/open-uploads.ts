import { readFile } from 'node:fs/promises';
import { enabledFeatures } from '../../../shared/config/features.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { uploadRows } from '../../../shared/routes/uploads.ts';
import { recordingsDirectory } from '../../../shared/video/recordings-directory.ts';
import type { Base } from '../base.ts';
import { FleetOutbox } from '../fleet-outbox.ts';
import { KeptFiles } from '../kept-files.ts';
import { fetchedLogFiles, tlogFiles } from '../kept-logs.ts';
import { Ledger } from './ledger.ts';
import { meteredIn } from './metered.ts';
import { S3Store } from './s3-store.ts';
import { UploadTeller } from './upload-teller.ts';
import { Uploader } from './uploader.ts';

interface UploadPart {
  readonly handlers: HandlersOf<typeof uploadRows, 'residual'>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface UploadPartOptions {
  /** The files of the recording that runs. */
  readonly recording: () => readonly string[];
}

const OFF = { waiting_for: null, problem: null, waiting_files: 0, waiting_bytes: 0, uploads: [] } as const;

/** The uploads of the residual: off until a store is set. */
export function openUploads(base: Base, { recording }: UploadPartOptions): UploadPart {
  const { config, paths, link, log } = base;
  const { endpoint, bucket, region, access_key_id: id, secret_access_key: secret } = config.upload;
  if (endpoint === '' || bucket === '')
    return {
      handlers: { 'uploads.get': () => ({ enabled: false, store: null, ...OFF }) },
      start: async () => undefined,
      stop: async () => undefined,
    };
  let isDisarmed = false;
  let writing: string | null = null;
  const recordings = recordingsDirectory(config, paths);
  const uploader = new Uploader({
    config: config.upload,
    // svc-control makes it at the node's first start.
    deviceId: async () => (await readFile(paths.deviceId, 'utf8')).trim(),
    store: new S3Store(
      {
        endpoint,
        bucket,
        region,
        accessKeyId: id,
        secretAccessKey: secret,
        nearHosts: config.security.near_hosts,
      },
      Date.now,
    ),
    sources: {
      recordings: {
        files: new KeptFiles(recordings, (name) => /^[^./][^/]*\.mp4$/.test(name), 'recording'),
        writing: recording,
      },
      tlogs: { files: tlogFiles(paths), writing: () => (writing === null ? [] : [writing]) },
      'flight-logs': { files: fetchedLogFiles(paths), writing: () => [] },
    },
    ledger: new Ledger(paths.uploads, log),
    teller: enabledFeatures(config).has('fleet') ? new UploadTeller(new FleetOutbox(paths)) : null,
    isDisarmed: () => isDisarmed,
    isMetered: async () => meteredIn(paths.uplink),
    wall: Date.now,
    now: () => performance.now(),
    log,
  });
  const disarmed = (now: boolean): void => {
    if (now === isDisarmed) return;
    isDisarmed = now;
    uploader.look();
  };
  link.follow({
    state: ({ guard, tlog }) => {
      writing = tlog.name;
      disarmed(guard === false);
    },
    connection: () => disarmed(false), // until svc-link has said otherwise
  });
  return {
    handlers: {
      'uploads.get': async () => ({
        enabled: true,
        store: `${endpoint}/${bucket}`,
        ...(await uploader.state()),
      }),
    },
    start: async () => uploader.start(),
    stop: async () => uploader.stop(),
  };
}
