import { hrefOf } from '../../../app/route.ts';

/** In the address, behind the tab: `#/vehicle/logs/view/node/NAME`. */
export const VIEW = 'view';

/** @param source of the log in the viewer (viewer/log-source.ts); none: the viewer without a log */
export function viewHref(...source: readonly string[]): string {
  return hrefOf('vehicle', 'logs', VIEW, ...source);
}
