import { ApiError } from '../../../shared/errors.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { peripheralsRows } from '../../../shared/routes/peripherals.ts';
import { type ActionParts, isAvailable, runAction } from './actions.ts';
import type { ConfigFiles } from './config-files.ts';
import { type Manifest, type Manifests, sentence } from './manifests.ts';
import type { Entry } from './peripherals.ts';
import type { Users } from './users.ts';

interface PeripheralHandlerParts extends ActionParts {
  readonly manifests: Manifests;
  readonly users: Users;
  readonly configs: ConfigFiles;
  /** Wall clock, ms. */
  readonly wall: () => number;
}

export function peripheralHandlers(
  parts: PeripheralHandlerParts,
): HandlersOf<typeof peripheralsRows, 'residual'> {
  const { peripherals, manifests, users, configs, wall } = parts;
  const known = (id: string): Entry => {
    const entry = peripherals.of(id);
    if (entry !== null) return entry;
    throw new ApiError('E_NOT_FOUND', `No peripheral ${id}. GET /api/peripherals lists them.`);
  };
  const view = async (entry: Entry) => {
    const { id, found, connected, partOf, firstSeen, lastSeen } = entry;
    const { identity: _identity, where: _where, usbPath: _usbPath, ...shown } = found;
    const manifest = manifests.of(found);
    return {
      id,
      ...shown,
      connected,
      first_seen: new Date(firstSeen).toISOString(),
      last_seen: new Date(lastSeen).toISOString(),
      part_of: partOf,
      rate_hz: null,
      used_by: connected ? await users.of(devicesOf(entry, peripherals.all)) : null,
      manifest: manifest === null ? null : shortOf(manifest, entry),
    };
  };
  const list = async () => {
    await peripherals.scan();
    const { all, sources } = peripherals;
    return {
      peripherals: await Promise.all(all.map(view)),
      count: all.filter(({ connected }) => connected).length,
      sources,
    };
  };
  return {
    'peripherals.get': list,

    'peripherals.scan.post': async () => {
      users.forget();
      return list();
    },

    'peripherals.id.get': async ({ params }) => {
      await peripherals.scan();
      const entry = known(params.id);
      const manifest = manifests.of(entry.found);
      return {
        ...(await view(entry)),
        manifest:
          manifest === null
            ? null
            : {
                ...shortOf(manifest, entry),
                origin: manifest.origin,
                config_schema: manifest.config_schema ?? null,
              },
        config: await configs.read(entry.id),
      };
    },

    'peripherals.id.config.put': async ({ params, body }) => {
      const { id, found } = known(params.id);
      const check = manifests.of(found)?.check ?? null;
      if (check === null)
        throw new ApiError(
          'E_NOT_FOUND',
          `${found.name} takes no configuration: no manifest has one for it.`,
        );
      const errors = check(body);
      if (errors !== null)
        throw new ApiError('E_INVALID_VALUE', `The configuration does not fit: ${sentence(errors)}.`, {
          errors,
        });
      await configs.write(id, body);
      return { persisted: true, peripheral_id: id, path: configs.pathOf(id) };
    },

    'peripherals.id.action.post': async ({ params, body, principal }) => {
      const entry = known(params.id);
      const { action_id: wanted, confirm = false } = body;
      const action = manifests.of(entry.found)?.actions.find(({ id }) => id === wanted);
      if (action === undefined)
        throw new ApiError('E_NOT_FOUND', `${entry.found.name} has no action ${wanted}.`);
      const dispatched = new Date(wall()).toISOString();
      const message = await runAction(parts, action, entry, { principal, confirm });
      return { ok: true, dispatched_at: dispatched, message };
    },
  };
}

/** A USB device is used by whoever has a part of it open, too. */
function devicesOf({ id, found }: Entry, all: readonly Entry[]): readonly string[] {
  const parts = all.filter(({ partOf, connected }) => partOf === id && connected);
  return [found, ...parts.map((part) => part.found)].flatMap(({ device_paths: paths }) => paths);
}

function shortOf(manifest: Manifest, entry: Entry) {
  const { id, display_name, capabilities, actions, check } = manifest;
  return {
    id,
    display_name,
    capabilities,
    actions: actions.map((action) => ({
      id: action.id,
      display_name: action.display_name,
      does: action.does,
      available: isAvailable(action, entry),
      requires_confirm: action.requires_confirm ?? false,
    })),
    has_config: check !== null,
  };
}
