<?php // Stands for WordPress in the cases, which run no PHP.
