import type { JSX } from 'preact';

export default function Ground(): JSX.Element {
  return <div class="page" />;
}
