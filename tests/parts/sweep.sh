# A sample of `make sweep`: sweep.sh OBJ
exec bash tests/orders/sweep.sh "$1" quick
