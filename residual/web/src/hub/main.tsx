import { render } from 'preact';
import { language } from '../language/language.ts';
import { Hub } from './hub.tsx';
import { watchFleet } from './watch-fleet.ts';
import '../styles/page.css';

const root = document.getElementById('app');
if (root === null) throw new Error('hub.html has no #app');
document.documentElement.lang = language;
watchFleet();
root.replaceChildren();
render(<Hub />, root);
