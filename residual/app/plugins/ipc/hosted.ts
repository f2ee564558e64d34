import type { AgentHalf } from '../../../../shared/plugins/manifest.ts';
import type { DetectionFeed } from '../../vision/detection-feed.ts';
import type { PluginSettings } from '../settings.ts';
import type { ExtensionCamera } from './extension-camera.ts';
import type { ExtensionDetections } from './extension-detections.ts';
import type { ExtensionLimits } from './extension-limits.ts';
import type { ExtensionTelemetry } from './extension-telemetry.ts';
import type { NodeCalls } from './node-calls.ts';
import type { Published } from './published.ts';
import type { Topics } from './topics.ts';
import type { Vehicle } from './vehicle.ts';

/** The recorder, as extensions use it. */
export interface Recording {
  readonly start: () => Promise<unknown>;
  readonly stop: () => Promise<unknown>;
}

/** What every extension reaches through its socket, if it was granted. */
export interface NodeServices {
  readonly topics: Topics;
  readonly vehicle: Vehicle;
  readonly mavlinkSocket: string;
  readonly recording: Recording;
  readonly detectionFeed: DetectionFeed;
  /** The newest picture of the camera. @throws ApiError E_NO_FRAME, E_NO_PIPELINE */
  readonly picture: () => Promise<Picture>;
  readonly nodeCalls: NodeCalls;
  readonly profile: string;
}

export interface Picture {
  readonly jpeg: Buffer;
  /** RFC 3339. */
  readonly capturedAt: string;
}

/** One running extension, as its connections know it. */
export interface Hosted extends NodeServices {
  readonly id: string;
  readonly version: string;
  /** Looked up at each call, so that a revoked grant ends at once. */
  readonly grants: () => ReadonlySet<string>;
  /** It tried what it was not granted. */
  readonly denied: (capability: string) => void;
  readonly components: AgentHalf['mavlink_components'];
  readonly settings: Pick<PluginSettings, 'read' | 'write'>;
  readonly published: Published;
  readonly telemetry: ExtensionTelemetry;
  readonly camera: ExtensionCamera;
  readonly limits: ExtensionLimits;
  readonly detections: ExtensionDetections;
}
