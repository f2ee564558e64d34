import type { JSX } from 'preact';
import { encode } from 'uqr';

/** A text as a QR code, for the camera of a phone. @param label what it is, for those who cannot see it */
export function Qr({ text, label }: { text: string; label: string }): JSX.Element {
  const { data, size } = encode(text, { border: 4 });
  const path = data
    .flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('');
  return (
    <svg
      class="qr"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
