import type { JSX } from 'preact';

export default function Fly(): JSX.Element {
  return <div class="page" />;
}
