import type { JSX } from 'preact';

export default function Access(): JSX.Element {
  return <div class="page" />;
}
