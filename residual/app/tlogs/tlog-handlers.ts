import { ApiError } from '../../../shared/errors.ts';
import { FileReply, type HandlersOf } from '../../../shared/routes/handler.ts';
import type { tlogRows } from '../../../shared/routes/tlogs.ts';
import type { TlogState } from '../../../shared/rpc/link-state.ts';
import type { Base } from '../base.ts';
import { tlogFiles } from '../kept-logs.ts';

const MAX_LISTED = 2000;

/** The telemetry logs that svc-link writes. */
export function tlogHandlers({
  paths,
  link,
}: Pick<Base, 'paths' | 'link'>): HandlersOf<typeof tlogRows, 'residual'> {
  let newest: TlogState | null = null;
  link.follow({
    state: ({ tlog }) => {
      newest = tlog;
    },
    connection: () => {
      newest = null;
    },
  });
  const files = tlogFiles(paths);
  return {
    'tlogs.get': async () => {
      const names = (await files.names()).toReversed().slice(0, MAX_LISTED);
      const looked = await Promise.all(names.map(async (name) => ({ name, found: await files.look(name) })));
      return {
        tlogs: looked.flatMap(({ name, found }) =>
          found === null ? [] : [{ name, size_bytes: found.size, modified_at: found.mtime.toISOString() }],
        ),
        writing: newest?.name ?? null,
        dropped: newest?.dropped ?? null,
        problem: newest?.problem ?? null,
        free_bytes: await files.freeBytes(),
      };
    },

    'tlogs.name.get': async ({ params: { name } }) =>
      new FileReply(await files.open(name), 'application/octet-stream'),

    'tlogs.name.delete': async ({ params: { name } }) => {
      if (newest?.name === name)
        throw new ApiError(
          'E_BUSY',
          `${name} is being written until a minute after the vehicle has disarmed.`,
        );
      await files.remove(name);
      return { name, deleted: true };
    },
  };
}
