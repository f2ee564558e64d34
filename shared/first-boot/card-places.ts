/** Where `svc.yaml` of a memory card may be, and how large. */

const DEFAULT_FILES = '/boot/firmware/svc.yaml:/boot/svc.yaml';
export const MAX_CARD_BYTES = 16 * 1024;

/** The files that are looked for, the first of them counts. @param text as in `SVC_BOOT_FILES`, separated by colons */
export function cardFiles(text: string | undefined): readonly string[] {
  return (text ?? DEFAULT_FILES).split(':').filter((file) => file.startsWith('/'));
}
