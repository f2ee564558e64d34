import type { Config } from '../config/schema.ts';
import type { Paths } from '../paths.ts';

/** The folder of recordings and stored pictures: svc-video writes it, svc-residual lists, serves and deletes. */
export function recordingsDirectory(
  { video }: Pick<Config, 'video'>,
  paths: Pick<Paths, 'recordings'>,
): string {
  return video.recording.directory === '' ? paths.recordings : video.recording.directory;
}
