import { Box, Cpu, type IconNode, LayoutPanelTop, Navigation, Network, Puzzle } from 'lucide';

/** By the category of the permission (shared/plugins/capabilities.ts). */
const ICONS: Readonly<Record<string, IconNode>> = {
  hardware: Cpu,
  flight_control: Navigation,
  data_network: Network,
  compute_process: Box,
  ui_slot: LayoutPanelTop,
};

export function permissionIcon(category: string): IconNode {
  return (Object.hasOwn(ICONS, category) ? ICONS[category] : undefined) ?? Puzzle;
}
