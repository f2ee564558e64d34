/**
 * The config file `config.yaml`: one schema for loading, for `PUT /api/config`, for `GET /api/config/schema` and for the
 * TypeScript type; a file a section. Our own keywords on a leaf: see leaf.ts.
 */
import type { FromSchema } from 'json-schema-to-ts';
import type { FEATURES } from '../profile.ts';
import { agentConfig } from './agent.ts';
import { apiConfig } from './api.ts';
import { discoveryConfig } from './discovery.ts';
import { featuresConfig } from './features.ts';
import { fleetConfig } from './fleet.ts';
import { flightConfig } from './flight.ts';
import { TOPICS } from './leaf.ts';
import { loggingConfig } from './logging.ts';
import { mapsConfig } from './maps.ts';
import { mavlinkConfig } from './mavlink.ts';
import { mcpConfig } from './mcp.ts';
import { networkConfig } from './network.ts';
import { pluginsConfig } from './plugins.ts';
import { radioConfig } from './radio.ts';
import { remoteIdConfig } from './remote-id.ts';
import { rtkConfig } from './rtk.ts';
import { securityConfig } from './security.ts';
import { tlogConfig } from './tlog.ts';
import { uploadConfig } from './upload.ts';
import { videoConfig } from './video.ts';
import { visionConfig } from './vision.ts';

export const configSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'svc node config',
  'x-topics': Object.entries(TOPICS),
  type: 'object',
  properties: {
    agent: agentConfig,
    api: apiConfig,
    features: featuresConfig,
    fleet: fleetConfig,
    discovery: discoveryConfig,
    logging: loggingConfig,
    maps: mapsConfig,
    mavlink: mavlinkConfig,
    flight: flightConfig,
    mcp: mcpConfig,
    network: networkConfig,
    plugins: pluginsConfig,
    radio: radioConfig,
    remote_id: remoteIdConfig,
    rtk: rtkConfig,
    security: securityConfig,
    tlog: tlogConfig,
    upload: uploadConfig,
    video: videoConfig,
    vision: visionConfig,
  },
  additionalProperties: false,
} as const;

type ConfigFile = FromSchema<typeof configSchema & { readonly $schema: string }>;
/** `T` with every member present, as it is once the defaults are in. */
type Filled<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]-?: Filled<T[K]> }
    : T;

/** The config with all defaults filled in. */
export type Config = Filled<Omit<ConfigFile, 'features'>> & {
  readonly features: { readonly residual: boolean } & {
    readonly [K in (typeof FEATURES)[number]]: boolean | null;
  };
};
