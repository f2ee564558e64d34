import { ClipboardList, Drone, Grid2x2, type IconNode, KeyRound, UserPlus } from 'lucide';
import type { PageId } from './route.ts';

export const PAGE_ICONS: Readonly<Record<PageId, IconNode>> = {
  fleet: Drone,
  wall: Grid2x2,
  enrol: UserPlus,
  access: KeyRound,
  audit: ClipboardList,
};
