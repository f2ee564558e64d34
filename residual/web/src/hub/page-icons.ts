import { ClipboardList, Drone, Grid2x2, type IconNode, KeyRound, Plane, UserPlus } from 'lucide';
import type { PageId } from './route.ts';

export const PAGE_ICONS: Readonly<Record<PageId, IconNode>> = {
  fleet: Drone,
  wall: Grid2x2,
  flights: Plane,
  enrol: UserPlus,
  access: KeyRound,
  audit: ClipboardList,
};
