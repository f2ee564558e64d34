import type { JSX } from 'preact';

export default function Node(): JSX.Element {
  return <div class="page" />;
}
