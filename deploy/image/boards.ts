import type { Arch } from '../../shared/update/manifest.ts';

/** What is different from board to board. */

export interface Board {
  readonly arch: Arch;
  readonly packages: readonly string[];
  /** How it starts: the program of UEFI in the package systemd-boot-efi, or what raspi-firmware has put on the boot partition. */
  readonly efi: { readonly from: string; readonly to: string } | null;
  /** Consoles of the kernel; the last one is that of its init. */
  readonly consoles: readonly string[];
  /** A Raspberry Pi before the 4 reads only a table of the MBR. */
  readonly table: 'gpt' | 'dos';
}

/** What an aircraft's or a ground station's Wi-Fi dongles want. */
const WIFI = ['firmware-atheros', 'firmware-realtek', 'wireless-regdb'];

export const BOARDS = {
  'generic-amd64': {
    arch: 'amd64',
    packages: ['linux-image-amd64', 'systemd-boot-efi', 'firmware-iwlwifi', ...WIFI],
    efi: { from: 'usr/lib/systemd/boot/efi/systemd-bootx64.efi', to: 'EFI/BOOT/BOOTX64.EFI' },
    consoles: ['tty0', 'ttyS0,115200'],
    table: 'gpt',
  },
  'generic-arm64': {
    arch: 'arm64',
    packages: ['linux-image-arm64', 'systemd-boot-efi', ...WIFI],
    efi: { from: 'usr/lib/systemd/boot/efi/systemd-bootaa64.efi', to: 'EFI/BOOT/BOOTAA64.EFI' },
    consoles: ['tty0', 'ttyAMA0,115200'],
    table: 'gpt',
  },
  pi: {
    arch: 'arm64',
    packages: ['linux-image-arm64', 'raspi-firmware', 'firmware-brcm80211', 'bluez-firmware', ...WIFI],
    efi: null,
    consoles: ['ttyS1,115200', 'tty0'],
    table: 'dos',
  },
} as const satisfies Readonly<Record<string, Board>>;

export type BoardName = keyof typeof BOARDS;

export function isBoard(name: string): name is BoardName {
  return Object.hasOwn(BOARDS, name);
}

/** Of every image: what the node uses where it is there, and what a system on a card wants. */
export const PACKAGES = [
  'systemd-sysv',
  'systemd-timesyncd',
  'systemd-zram-generator',
  'libpam-systemd',
  'dbus',
  'udev',
  'kmod',
  'busybox',
  'initramfs-tools',
  'zstd',
  'e2fsprogs',
  'dosfstools',
  'fdisk',
  'ca-certificates',
  'openssh-server',
  'iproute2',
  'iputils-ping',
  'iw',
  'rfkill',
  'wpasupplicant',
  'network-manager',
  'modemmanager',
  'dnsmasq-base',
  'nftables',
  'avahi-daemon',
  'bubblewrap',
  'slirp4netns',
  'usbutils',
  'less',
] as const;
