import type { DetectionFeed } from '../../vision/detection-feed.ts';
import type { PluginSettings } from '../settings.ts';
import type { ExtensionDetections } from './extension-detections.ts';
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
  readonly profile: string;
}

/** One running extension, as its connections know it. */
export interface Hosted extends NodeServices {
  readonly id: string;
  readonly version: string;
  /** Looked up at each call, so that a revoked grant ends at once. */
  readonly grants: () => ReadonlySet<string>;
  /** It tried what it was not granted. */
  readonly denied: (capability: string) => void;
  readonly settings: PluginSettings;
  readonly published: Published;
  readonly detections: ExtensionDetections;
}
