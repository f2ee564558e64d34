import type { JSX } from 'preact';

export default function Plan(): JSX.Element {
  return <div class="page" />;
}
