import type { JSX } from 'preact';

export default function Setup(): JSX.Element {
  return <div class="page" />;
}
